/** The end of a model in the language shown. */
import type { IconName } from '../components/icons';
import type { ModelNotice } from '../backend/types/ModelNotice';
import type { ModelProfile } from '../backend/types/ModelProfile';
import type { Look } from '../queue/status';
import { calendarDay } from '../text/format';
import { t } from '../text/text.svelte';

/** What ends, and what to use instead, as sentences; where a button says the latter, `sayEnd` is enough. */
export function sayNotice(notice: ModelNotice): string {
  const { successor } = notice;
  const sentence = sayEnd(notice);
  return successor === null ? sentence : t.models.end.instead(sentence, successor);
}

export function sayEnd({ model, lifecycle, retiresOn, daysLeft }: ModelNotice): string {
  const words = t.models.end;
  const day = retiresOn === null ? null : calendarDay(retiresOn);
  if (lifecycle === 'retired') return day === null ? words.retired(model) : words.retiredOn(model, day);
  if (day === null) return words.someDay(model);
  return daysLeft === 1 ? words.tomorrow(model, day) : words.soon(model, day, daysLeft ?? 0);
}

/** Where a model stands in its life, in a few words; `null` for one that is current. */
export function lifeOf(profile: ModelProfile): { words: string; icon: IconName; look: Look } | null {
  const { lifecycle, retiresOn, successor } = profile;
  const day = retiresOn === null ? null : calendarDay(retiresOn);
  const instead = (badge: string): string =>
    successor === null ? badge : t.models.useInstead(badge, successor);
  switch (lifecycle) {
    case 'retired':
      return {
        words: instead(day === null ? t.models.retired : t.models.retiredOn(day)),
        icon: 'stop',
        look: 'dead',
      };
    case 'deprecated':
      return {
        words: instead(day === null ? t.models.retiresSomeDay : t.models.retires(day)),
        icon: 'timer',
        look: 'wait',
      };
    case 'legacy':
      return successor === null ? null : { words: t.models.newer(successor), icon: 'info', look: 'idle' };
    default:
      return null;
  }
}
