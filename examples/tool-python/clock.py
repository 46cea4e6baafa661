#!/usr/bin/env python3
"""A tool without the kit and without libraries: the NATS protocol over a socket. Run: python3 clock.py"""
import json, os, signal, socket, sys, time
from datetime import datetime, timedelta, timezone
from urllib.parse import unquote, urlparse

DEFINITION = {
    "name": "clock",
    "description": "The current time at an offset from UTC in hours, ISO 8601.",
    "input_schema": {"type": "object", "properties": {"utc_offset": {"type": "number", "minimum": -14, "maximum": 14}}},
    "mutating": False, "approval": "never", "concurrency": "parallel", "timeout_ms": 5000, "repeatable": True,
}


def clock(args):
    return {"now": datetime.now(timezone(timedelta(hours=args.get("utc_offset", 0)))).isoformat(timespec="seconds")}


def answer(call, highest_epochs={}):
    try:
        if datetime.fromisoformat(call["not_after"].replace("Z", "+00:00")) <= datetime.now(timezone.utc):
            return {"error": "the call arrived after its time limit; it has not run"}
        session, epoch = call["session_id"], call["epoch"]
        if epoch < highest_epochs.get(session, 0):
            return {"error": "the call comes from a superseded owner; it has not run"}
        highest_epochs[session] = epoch
        return {"content": clock(call["args"])}
    except Exception as error:  # whatever goes wrong, the model is told
        return {"error": f"{type(error).__name__}: {error}"}


def serve(url):
    with socket.create_connection((url.hostname or "127.0.0.1", url.port or 4222)) as connection:
        def send(line, payload=None):
            body = b"" if payload is None else json.dumps(payload).encode()
            head = line if payload is None else f"{line} {len(body)}"
            connection.sendall(head.encode() + b"\r\n" + (b"" if payload is None else body + b"\r\n"))

        user, password = unquote(url.username or ""), unquote(url.password or "")
        login = {"user": user, "pass": password} if password else {"auth_token": user} if user else {}
        send("CONNECT " + json.dumps({"verbose": False, "headers": True, "no_responders": True, **login}))
        send("SUB tools.default.clock.call tool 1")  # queue group `tool`: each call reaches one process
        send("SUB _INBOX.clock 2")  # where the acknowledgement of the registration comes
        send("PUB $KV.LONGREIN_TOOLS.default.clock _INBOX.clock", DEFINITION)
        stream = connection.makefile("rb")
        for line in stream:
            words = line.split()
            verb = words[0] if words else b""
            if verb == b"PING":
                send("PONG")
            elif verb == b"-ERR":
                raise ConnectionError(line.decode().strip())
            elif verb in (b"MSG", b"HMSG"):  # MSG subject sid [reply] size; HMSG subject sid [reply] header-size size
                body = stream.read(int(words[-1]) + 2)[:-2]
                fields = 4
                if verb == b"HMSG":
                    body, fields = body[int(words[-2]):], 5
                if words[2] == b"1" and len(words) > fields:
                    send(f"PUB {words[3].decode()}", answer(json.loads(body)))
                elif words[2] == b"2":
                    if b'"seq"' not in body:  # nobody stores it (no responders), or {"error": ...}
                        raise ConnectionError(f"the registration was not stored: {body.decode() or 'no bucket yet'}")
                    print("clock is registered and answers", flush=True)
        raise ConnectionError("the server closed the connection")


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
while True:  # reconnecting registers again, in case the server has lost its data
    try:
        serve(urlparse(os.environ.get("NATS_URL", "nats://127.0.0.1:4222")))
    except (OSError, ConnectionError) as problem:
        print(f"{problem}; trying again", file=sys.stderr, flush=True)
        time.sleep(1)
