/** Apart from their worker, whose import answers the messages of the parent process. */
export const JOB_QUEUES = ['graphile-worker', 'pg-boss'] as const;
export type JobQueueName = (typeof JOB_QUEUES)[number];
