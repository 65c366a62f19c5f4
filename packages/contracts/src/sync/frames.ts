/** The messages of `/sync/ws`, one file each. */
import { deltaFrame, type DeltaFrame } from './frames/delta.ts';
import { errorFrame, type ErrorFrame } from './frames/error.ts';
import type { FrameContract } from './frames/frame.ts';
import { subscribeFrame } from './frames/subscribe.ts';
import { subscribedFrame, type SubscribedFrame } from './frames/subscribed.ts';

export { deltaFrame, errorFrame, subscribedFrame, subscribeFrame };
export { SOCKET_ERRORS, type SocketErrorCode } from './frames/error.ts';
export type { SubscribeFrame } from './frames/subscribe.ts';

/** A message that a client receives. */
export type ServerFrame = DeltaFrame | ErrorFrame | SubscribedFrame;

export const FRAMES: readonly FrameContract[] = [subscribeFrame, subscribedFrame, deltaFrame, errorFrame];
