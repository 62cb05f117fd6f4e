import { describe, expect, it } from 'vitest';
import { renderMarkdown } from '../../src/detail/markdown';

describe('hostile Markdown', () => {
  it('keeps HTML as text', () => {
    const html = renderMarkdown('<img src=x onerror=alert(1)> <script>alert(1)</script>', 2);
    expect(html).not.toContain('<img');
    expect(html).not.toContain('<script');
    expect(html).toContain('&lt;script&gt;');
  });

  it('shows no image', () => {
    expect(renderMarkdown('![a](https://example.org/a.png)', 2)).not.toContain('<img');
  });

  it.each(['javascript:alert(1)', 'file:///etc/passwd', 'data:text/html,x', 'tauri://localhost', '../a'])(
    'makes no link of %s',
    (address) => {
      expect(renderMarkdown(`[a](${address})`, 2)).not.toContain('<a');
    },
  );

  it('makes links of web addresses', () => {
    expect(renderMarkdown('[a](https://example.org/)', 2)).toContain('<a href="https://example.org/">a</a>');
  });

  it('writes no style attribute, which the window would refuse', () => {
    const html = renderMarkdown('| a | b |\n| --- | ---: |\n| 1 | 2 |', 2);
    expect(html).not.toContain('style');
    expect(html).toContain('data-align="right"');
  });

  it('ranks headings below the page’s own', () => {
    expect(renderMarkdown('text\n\n# a\n\n## b', 3)).toContain('<h3>a</h3>\n<h4>b</h4>');
  });
});
