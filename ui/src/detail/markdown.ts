/**
 * Hostile text made safe: a model or a PDF wrote it. HTML in it stays text, images are dropped, only web addresses
 * become links, and what comes out is cleaned once more.
 */
import DOMPurify from 'dompurify';
import MarkdownIt from 'markdown-it';

const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false });
markdown.disable('image');
markdown.validateLink = (address) => /^https?:\/\//i.test(address.trim());

// The window's CSP knows no style attributes: alignment becomes data.
for (const cell of ['th_open', 'td_open']) {
  markdown.renderer.rules[cell] = (tokens, index, options, _env, self) => {
    const token = tokens[index];
    const align = /text-align:(\w+)/.exec(String(token?.attrGet('style') ?? ''))?.[1];
    if (token) token.attrs = align ? [['data-align', align]] : null;
    return self.renderToken(tokens, index, options);
  };
}

const CLEAN = {
  ALLOWED_TAGS: [
    ...[
      'h1',
      'h2',
      'h3',
      'h4',
      'h5',
      'h6',
      'p',
      'ul',
      'ol',
      'li',
      'strong',
      'em',
      's',
      'code',
      'pre',
      'blockquote',
    ],
    ...['table', 'thead', 'tbody', 'tr', 'th', 'td', 'a', 'br', 'hr'],
  ],
  ALLOWED_ATTR: ['href', 'data-align', 'start'],
  ALLOW_DATA_ATTR: false,
};

/** Renders Markdown as clean HTML. `topLevel` is the rank of its first heading on the page. */
export function renderMarkdown(text: string, topLevel: number): string {
  const tokens = markdown.parse(text, {});
  for (const token of tokens) {
    if (token.type !== 'heading_open' && token.type !== 'heading_close') continue;
    token.tag = `h${Math.min(6, Number(token.tag.slice(1)) + topLevel - 1)}`;
  }
  return DOMPurify.sanitize(markdown.renderer.render(tokens, markdown.options, {}), CLEAN);
}
