import type { IconName } from './icons';

/** One entry of a menu. */
export interface MenuItem {
  id: string;
  label: string;
  act: () => void;
  icon?: IconName;
  /** The key that does the same. */
  key?: string;
  /** Makes the entry one of a choice. */
  checked?: boolean;
  danger?: boolean;
  /** A line above it. */
  separated?: boolean;
}
