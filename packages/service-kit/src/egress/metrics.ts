/** What resolving and connecting report while they run. */
export interface EgressMetrics {
  /** Where an address was refused: written in the URL, among the answers of DNS, or at the other end of a connection. */
  addressBlocked(where: 'url' | 'answer' | 'peer'): void;
  nameResolved(outcome: 'cached' | 'found' | 'failed', durationMs: number): void;
}
