/** Money against a cap. */
import type { Money } from '../backend/types/Money';

/** What counts against the cap: spent, promised, and what nobody knows. */
export function committed(money: Money): number {
  return money.settledMicros + money.reservedMicros + money.unknownMicros;
}

/** Whether nothing more fits under the cap. */
export function capReached(money: Money): boolean {
  return money.capMicros !== null && committed(money) >= money.capMicros;
}
