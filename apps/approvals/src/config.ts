import { type PartitionedConfig, defineConfig, serviceConfig, serviceVariables } from '@longrein/service';

/** Configuration of the approvals service. It has no timeout to set: a call waits until someone decides. */
export type ApprovalsConfig = PartitionedConfig;

/** The approvals service's environment. */
export const approvalsConfig = defineConfig(serviceVariables({ port: 7424 }), (values): ApprovalsConfig =>
  serviceConfig(values),
);
