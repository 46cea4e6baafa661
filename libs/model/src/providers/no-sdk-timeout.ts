/** Longest timeout a timer takes: the SDKs' own is switched off by it, the watchdog of a call stands for it. */
export const NO_SDK_TIMEOUT = 2 ** 31 - 1;
