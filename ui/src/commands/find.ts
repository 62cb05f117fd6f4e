/** Which commands a person means: those used last where nothing is typed, else the best fitting of either language. */
import type { App } from '../app/app.svelte';
import { inOtherLanguage, t } from '../text/text.svelte';
import type { Command } from './command';
import { commandsOf } from './commands';
import { fit } from './fuzzy';

export interface Found {
  title: string;
  commands: Command[];
}

/** More than these are found better by another letter. */
const FOUND_AT_MOST = 40;
/** One that was used lately is a little more likely meant. */
const RECENT_BONUS = 0.5;

export function findCommands(app: App, query: string, recent: string[]): Found[] {
  const commands = commandsOf(app);
  if (query.trim() === '') return grouped(commands, recent);
  const others = new Map(inOtherLanguage(() => commandsOf(app).map(({ id, label }) => [id, label])));
  const scored = commands
    .map((command) => ({ command, score: score(command, others.get(command.id) ?? '', query, recent) }))
    .filter(({ score }) => score > 0)
    // What can be done comes first.
    .sort(
      (one, other) =>
        Number(Boolean(one.command.why)) - Number(Boolean(other.command.why)) || other.score - one.score,
    )
    .slice(0, FOUND_AT_MOST);
  return scored.length === 0 ? [] : [{ title: '', commands: scored.map(({ command }) => command) }];
}

function score(command: Command, other: string, query: string, recent: string[]): number {
  const group = t.commands.group[command.group];
  // A word of the group helps, so that "lanes high" finds what is among the lanes.
  const best = Math.max(
    fit(query, command.label),
    fit(query, other) * 0.9,
    fit(query, `${command.label} ${group}`) * 0.8,
  );
  return best === 0 ? 0 : best + (recent.includes(command.id) ? RECENT_BONUS : 0);
}

function grouped(commands: Command[], recent: string[]): Found[] {
  const used = recent
    .map((id) => commands.find((command) => command.id === id && !command.why))
    .filter((command) => command !== undefined);
  const groups: Found[] = used.length > 0 ? [{ title: t.commands.group.recent, commands: used }] : [];
  for (const command of commands) {
    if (used.includes(command)) continue;
    const title = t.commands.group[command.group];
    const group = groups.find((each) => each.title === title);
    if (group) group.commands.push(command);
    else groups.push({ title, commands: [command] });
  }
  return groups;
}
