/** One thing that can be done in the window, as the list of commands shows it. */
import type { IconName } from '../components/icons';
import type { Messages } from '../text/messages';

export type CommandGroup = Exclude<keyof Messages['commands']['group'], 'recent'>;

export interface Command {
  /** Stays the same over starts, so that what was used last is known again. */
  id: string;
  group: CommandGroup;
  label: string;
  icon: IconName;
  act: () => void;
  /** The key that does the same. */
  key?: string;
  /** Why it can't be done at the moment. */
  why?: string | false;
}
