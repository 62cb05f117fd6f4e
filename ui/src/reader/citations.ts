/** Makes what a summary names of its PDF something to press: marks of pages become chips, quotes get their verdict. */
import type { Passage } from '../backend/types/Passage';
import type { Quote } from '../backend/types/Quote';
import type { IconName } from '../components/icons';
import { t } from '../text/text.svelte';
import { fold, FoldedText } from './locate';
import { marksIn } from './marks';

/** A chip. */
export interface Citation {
  button: HTMLButtonElement;
  /** The page it opens. */
  page: number;
  /** Its last page, where it names several. */
  lastPage: number;
  /** Words that stand on that page; `null` where the summary quotes none of it. */
  words: string | null;
}

const BLOCKS = 'blockquote, li, p, td, th, h1, h2, h3, h4, h5, h6';
const STOP = /^[.,;:!?。、，]/;
/** Signs that close a quote stay with it. */
const CLOSING = /^[.,!?。、]?[”"’»」』]?[.,。]?/;

function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className: string,
  text = '',
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

function icon(name: IconName): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.classList.add('ic', 'ic-14');
  svg.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS('http://www.w3.org/2000/svg', 'use');
  use.setAttribute('href', `#i-${name}`);
  svg.append(use);
  return svg;
}

function chip(page: number, lastPage = page): Citation {
  const button = element('button', 'cite', t.reader.pageMark(page, lastPage));
  button.type = 'button';
  button.title = t.reader.openPage(page);
  return { button, page, lastPage, words: null };
}

function textNodes(root: Node): Text[] {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const nodes: Text[] = [];
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    if (!node.parentElement?.closest('button, code, a, .qv')) nodes.push(node);
  }
  return nodes;
}

/** The verdict in words, with what can be done about it. */
function verdictLine(quote: Quote, chips: Citation[], copy: (words: string) => void): HTMLElement {
  const { verdict } = quote;
  const good = verdict.verdict === 'found';
  const line = element('span', `qv ${good ? 'done' : verdict.verdict === 'unchecked' ? 't3' : 'retry'}`);
  if (verdict.verdict !== 'unchecked') line.append(icon(good ? 'done' : 'warn'));
  const words =
    verdict.verdict === 'differs' ? t.reader.differs(verdict.words) : t.reader.verdict[verdict.verdict];
  line.append(element('span', '', words), ...chips.map(({ button }) => button));
  if (verdict.verdict === 'differs') {
    const take = element('button', 'btn', t.reader.copyWords);
    take.classList.add('btn-link');
    take.type = 'button';
    take.addEventListener('click', () => copy(verdict.words));
    line.append(take);
  }
  return line;
}

/** Words of a quote that was found on the page that a chip opens. */
function quotedOn(quotes: Quote[], { page }: Citation): string | null {
  const quote = quotes.find(({ verdict }) => verdict.verdict === 'found' && verdict.page === page);
  return quote?.text ?? null;
}

/** What the provider cited of that page; of several passages nobody knows which one is meant. */
function citedOn(passages: Passage[], { page }: Citation): string | null {
  const there = passages.filter(({ firstPage, lastPage }) => firstPage <= page && page <= lastPage);
  const texts = new Set(there.map(({ text }) => text));
  return texts.size === 1 ? (there[0]?.text ?? null) : null;
}

export class Citations {
  readonly list: Citation[] = [];

  constructor(
    private readonly root: HTMLElement,
    private readonly pages: number | null,
    private readonly copy: (words: string) => void,
  ) {}

  /** Makes the chips, gives quotes their verdicts, and leads each chip to words on its page. */
  decorate(quotes: Quote[], passages: Passage[] = []): Citation[] {
    for (const node of textNodes(this.root)) this.markPages(node);
    const nodes = textNodes(this.root);
    const text = new FoldedText(nodes.map((node) => node.data));
    // From the end, so that what is put in does not move what is still to come.
    for (const quote of [...quotes].reverse()) {
      const last = text.find(quote.text)?.at(-1);
      const node = last && nodes[last.piece];
      if (node) this.judge(quote, node, last.to);
    }
    for (const citation of this.list) {
      citation.words ??= quotedOn(quotes, citation) ?? citedOn(passages, citation);
    }
    return this.list.sort((one, other) =>
      one.button.compareDocumentPosition(other.button) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1,
    );
  }

  private markPages(node: Text): void {
    for (const mark of marksIn(node.data).reverse()) {
      const there = mark.ranges.filter(({ from }) => this.pages === null || from <= this.pages);
      if (there.length < mark.ranges.length) continue;
      const made = there.map(({ from, to }) => chip(from, to));
      this.list.push(...made);
      const rest = node.splitText(mark.start);
      const behind = rest.data.slice(mark.end - mark.start);
      // A full stop never begins a line.
      rest.data = STOP.test(behind) ? `\u2060${behind}` : behind;
      rest.before(...made.map(({ button }) => button));
    }
  }

  private judge(quote: Quote, node: Text, end: number): void {
    const block = node.parentElement?.closest('blockquote') ?? node.parentElement?.closest(BLOCKS);
    if (!(block instanceof HTMLElement)) return;
    const { verdict } = quote;
    const page = 'page' in verdict ? verdict.page : null;
    const own = this.list.filter(({ button }) => block.contains(button));
    if (this.standsAlone(block, quote)) {
      let chips = own;
      const beside = own.find((each) => page !== null && each.page <= page && page <= each.lastPage);
      if (page !== null && !beside) {
        chips = [this.add(page)];
        for (const each of own) this.remove(each);
      }
      for (const each of chips) this.lead(each, quote);
      block.classList.add('qt');
      block.append(verdictLine(quote, chips, this.copy));
      return;
    }
    if (verdict.verdict === 'unchecked') return;
    const beside = own.find(
      ({ button, page: from, lastPage }) =>
        (page === null || (from <= page && page <= lastPage)) &&
        (node.compareDocumentPosition(button) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0,
    );
    if (beside && page !== null) this.say(beside, quote);
    else {
      const rest = node.splitText(end + (CLOSING.exec(node.data.slice(end))?.[0].length ?? 0));
      if (page === null) {
        const line = verdictLine(quote, [], this.copy);
        line.classList.add('qv-in');
        rest.before(' ', line);
      } else {
        const made = this.add(page);
        this.say(made, quote);
        rest.before(' ', made.button);
      }
    }
  }

  /** A chip beside a quote in a sentence tells its verdict. */
  private say(citation: Citation, quote: Quote): void {
    const { verdict } = quote;
    this.lead(citation, quote);
    const good = verdict.verdict === 'found';
    const words = verdict.verdict === 'differs' ? t.reader.differs(verdict.words) : t.reader.verdict.found;
    citation.button.prepend(icon(good ? 'check' : 'warn'));
    citation.button.classList.toggle('warn', !good);
    citation.button.title = words;
  }

  private lead(citation: Citation, { text, verdict }: Quote): void {
    if (!('page' in verdict)) return;
    citation.page = verdict.page;
    citation.lastPage = Math.max(citation.lastPage, verdict.page);
    citation.words = verdict.verdict === 'differs' ? verdict.words : text;
  }

  private standsAlone(block: HTMLElement, quote: Quote): boolean {
    if (block.tagName === 'BLOCKQUOTE') return true;
    const words = textNodes(block).map((node) => node.data);
    return fold(words.join('')) === fold(quote.text);
  }

  private add(page: number): Citation {
    const made = chip(page);
    this.list.push(made);
    return made;
  }

  private remove(citation: Citation): void {
    citation.button.remove();
    this.list.splice(this.list.indexOf(citation), 1);
  }
}
