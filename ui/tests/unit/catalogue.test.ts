/** The catalogue is complete: every text is there in both languages, is used, and none is written elsewhere. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { en } from '../../src/text/en';
import { ja } from '../../src/text/ja';

const SOURCE = path.resolve(__dirname, '../../src');

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) return ['text', 'types', 'mock'].includes(entry.name) ? [] : sources(full);
    return /\.(svelte|ts)$/.test(entry.name) ? [full] : [];
  });
}

type Tree = { [key: string]: string | ((...values: never[]) => string) | Tree };

function keysOf(tree: Tree, prefix = ''): string[] {
  return Object.entries(tree).flatMap(([key, value]) =>
    typeof value === 'object' ? keysOf(value, `${prefix}${key}.`) : [`${prefix}${key}`],
  );
}

const at = (tree: Tree, key: string): unknown =>
  key.split('.').reduce<unknown>((value, part) => (value as Tree)[part], tree);

const files = sources(SOURCE);
const code = files.map((file) => readFileSync(file, 'utf8')).join('\n');

/**
 * Sections that are looked up by a value of the engine: the types say that they are complete. Each with the names in it
 * that are not such a value, which have to be used by name as everywhere.
 */
const BY_VALUE: Record<string, RegExp> = {
  view: /^(label|withCount)$/,
  status: /^$/,
  lane: /^(?!high$|bulk$|half$)/,
  skip: /^$/,
  notice: /^$/,
  problem: /^$/,
  cause: /^$/,
};

describe('the catalogue', () => {
  it('has the same keys in both languages', () => {
    expect(keysOf(ja as unknown as Tree)).toEqual(keysOf(en as unknown as Tree));
  });

  it('has no empty text and no English left in Japanese', () => {
    for (const key of keysOf(en as unknown as Tree)) {
      const [english, japanese] = [at(en as unknown as Tree, key), at(ja as unknown as Tree, key)];
      expect(english, key).not.toBe('');
      expect(japanese, key).not.toBe('');
      if (typeof japanese === 'string' && /[a-z]{4,} [a-z]{3,}/.test(japanese)) {
        expect(key).toBe('sidebar.otherLanguage');
      }
    }
  });

  it('takes every parameter in both languages or in neither', () => {
    for (const key of keysOf(en as unknown as Tree)) {
      expect(typeof at(ja as unknown as Tree, key), key).toBe(typeof at(en as unknown as Tree, key));
    }
  });

  it('has no text that nothing shows', () => {
    const unused = keysOf(en as unknown as Tree).filter((key) => {
      const [section = '', name = ''] = key.split('.');
      const byName = BY_VALUE[section];
      if (byName && !byName.test(name)) return !new RegExp(`\\bt\\.${section}\\[`).test(code);
      return !new RegExp(`\\bt\\.${section}(\\.${name}\\b|\\['${name}'\\])`).test(code);
    });
    expect(unused).toEqual([]);
  });
});

/** Words that are no language: names of keys, of events and of parts of the page. */
const NO_LANGUAGE = /^(Space|Del|Delete|Enter|Esc|Escape|Shift|Alt|Cmd|Ctrl|Tab|Home|End)$/;
/** Texts of scripts that are not shown: classes, places in the page, and diagnostics, which are for the makers. */
const NOT_SHOWN: Record<string, string[]> = {
  'add/PriceRange.svelte': ['exp past', 'wst past'],
  'settings/TestActions.svelte': ['.ep-draft input'],
  'settings/diagnostics.ts': ['does not work'],
  'templates/FieldsEditor.svelte': ['li:last-child input'],
};

/** The texts of a script that read like words of a language: several words, or one with a capital. */
function wordsOf(script: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isLiteralTypeNode(node)) return;
    // What no person should ever see.
    if (ts.isNewExpression(node) && node.expression.getText().endsWith('Error')) return;
    const text = textOf(node);
    if (text !== null && /[A-Za-z]{2,} [A-Za-z]{2,}|^[A-Z][a-z]+[….:]?$/.test(text)) found.push(text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('script.ts', script, ts.ScriptTarget.Latest, true));
  return found.filter((text) => !NO_LANGUAGE.test(text));
}

function textOf(node: ts.Node): string | null {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return null;
  return [node.head.text, ...node.templateSpans.map((span) => span.literal.text)].join(' ');
}

describe('the sources', () => {
  it('write no text in scripts', () => {
    for (const file of files) {
      const text = readFileSync(file, 'utf8');
      const script = file.endsWith('.svelte')
        ? (/<script[^>]*>([\s\S]*?)<\/script>/.exec(text)?.[1] ?? '')
        : text;
      const name = path.relative(SOURCE, file);
      const allowed = NOT_SHOWN[name] ?? [];
      expect(
        wordsOf(script).filter((words) => !allowed.includes(words)),
        `${name}: words belong into ui/src/text`,
      ).toEqual([]);
    }
  });

  it('write numbers, money and moments by the formats of the language', () => {
    // A drawing has coordinates, and diagnostics are for the makers.
    for (const file of files.filter((each) => !/Sparkline|diagnostics/.test(each))) {
      const name = path.relative(SOURCE, file);
      const found = readFileSync(file, 'utf8').match(
        /\.toLocale(Date|Time)?String\(|new Intl\.|\.toFixed\(|\.toUTCString\(|`\$\$\{/g,
      );
      expect(found, `${name}: use ui/src/text/format.ts`).toBeNull();
    }
  });

  const markupOf = (text: string): string =>
    text
      .replace(/<script[\s\S]*?<\/script>/g, '')
      .replace(/<!--[\s\S]*?-->/g, '')
      .replace(/<svg[\s\S]*?<\/svg>/g, '');
  /** Names of keys are the same in every language. */
  const markup = (text: string): string => markupOf(text).replace(/<kbd[^>]*>[^<]*<\/kbd>/g, '');

  it('write no text between tags', () => {
    for (const file of files.filter((each) => each.endsWith('.svelte'))) {
      // What is left without expressions and tags are the words that would be shown.
      let rest = markup(readFileSync(file, 'utf8'));
      for (let before = ''; before !== rest;) {
        before = rest;
        rest = rest.replace(/\{[^{}]*\}/g, '');
      }
      const words = rest.replace(/<[^>]*>/g, ' ').match(/[A-Za-z]{2,}|[\u3040-\u30ff\u4e00-\u9fff]+/g) ?? [];
      expect(words, path.relative(SOURCE, file)).toEqual([]);
    }
  });

  it('write no text in attributes that are read out', () => {
    for (const file of files.filter((each) => each.endsWith('.svelte'))) {
      const found = markup(readFileSync(file, 'utf8')).match(
        /\s(aria-label|title|placeholder|alt)="[^"{]*[A-Za-z]/g,
      );
      expect(found, path.relative(SOURCE, file)).toBeNull();
    }
  });

  it('write no Japanese outside the catalogue', () => {
    for (const file of files) {
      expect(readFileSync(file, 'utf8'), path.relative(SOURCE, file)).not.toMatch(
        /[\u3040-\u30ff\u4e00-\u9fff]/,
      );
    }
  });
});
