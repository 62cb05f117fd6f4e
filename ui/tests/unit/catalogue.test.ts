/** The catalogue is complete: every text is there in both languages, is used, and none is written elsewhere. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
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
/** Sections that are looked up by a value of the engine: the types say that they are complete. */
const BY_VALUE = ['view', 'status', 'lane', 'skip', 'notice', 'problem', 'cause'];

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
      if (BY_VALUE.includes(section)) return !new RegExp(`\\bt\\.${section}\\b`).test(code);
      return !new RegExp(`\\bt\\.${section}(\\.${name}\\b|\\['${name}'\\])`).test(code);
    });
    expect(unused).toEqual([]);
  });
});

describe('the sources', () => {
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
