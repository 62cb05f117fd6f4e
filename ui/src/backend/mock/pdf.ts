/** Writes a small real PDF: pages of text in fonts that every reader has, so that a reader truly has something to read. */

export interface PlayedPage {
  /** Printed on top of the page. */
  heading: string;
  paragraphs: string[];
}

const WIDTH = 595;
const HEIGHT = 842;
const LEFT = 72;
const SIZE = 11.5;
const LINE = 17;
/** Characters a line, in Latin script and in others. */
const LATIN_LINE = 82;
const WIDE_LINE = 38;

const isLatin = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

function lines(text: string): string[] {
  if (!isLatin(text)) return text.match(new RegExp(`.{1,${WIDE_LINE}}`, 'gu')) ?? [];
  const found: string[] = [];
  for (const word of text.split(' ')) {
    const last = found.at(-1);
    if (last !== undefined && last.length + word.length < LATIN_LINE)
      found[found.length - 1] = `${last} ${word}`;
    else found.push(word);
  }
  return found;
}

/** Shows a text in the font that has its letters. */
function show(text: string, size: number): string {
  if (isLatin(text)) return `/F1 ${size} Tf (${text.replace(/[\\()]/g, '\\$&')}) Tj`;
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
  return `/F2 ${size} Tf <${units.map((unit) => unit.toString(16).padStart(4, '0')).join('')}> Tj`;
}

function content({ heading, paragraphs }: PlayedPage, number: number): string {
  const parts = [`BT ${LEFT} ${HEIGHT - 60} Td ${show(heading, 9)} ET`];
  parts.push(`BT ${WIDTH - LEFT - 12} ${HEIGHT - 60} Td ${show(String(number), 9)} ET`);
  parts.push(`0.6 G ${LEFT} ${HEIGHT - 68} m ${WIDTH - LEFT} ${HEIGHT - 68} l S`);
  let y = HEIGHT - 100;
  for (const paragraph of paragraphs) {
    for (const line of lines(paragraph)) {
      parts.push(`BT ${LEFT} ${y} Td ${show(line, SIZE)} ET`);
      y -= LINE;
    }
    y -= LINE / 2;
  }
  return parts.join('\n');
}

/** The bytes of a PDF with these pages. */
export function writePdf(pages: PlayedPage[]): Uint8Array<ArrayBuffer> {
  const firstPage = 6;
  const pageIds = pages.map((_, index) => firstPage + index * 2);
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${pageIds.map((id) => `${id} 0 R`).join(' ')}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman /Encoding /WinAnsiEncoding >>',
    '<< /Type /Font /Subtype /Type0 /BaseFont /HeiseiMin-W3 /Encoding /UniJIS-UCS2-H /DescendantFonts [5 0 R] >>',
    '<< /Type /Font /Subtype /CIDFontType0 /BaseFont /HeiseiMin-W3 /DW 1000 /CIDSystemInfo << /Registry (Adobe) ' +
      '/Ordering (Japan1) /Supplement 2 >> /FontDescriptor << /Type /FontDescriptor /FontName /HeiseiMin-W3 ' +
      '/Flags 6 /FontBBox [-123 -257 1001 910] /ItalicAngle 0 /Ascent 709 /Descent -241 /CapHeight 709 /StemV 69 >> >>',
    ...pages.flatMap((page, index) => {
      const stream = content(page, index + 1);
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${WIDTH} ${HEIGHT}] /Contents ${firstPage + index * 2 + 1} 0 R ` +
          '/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>',
        `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
      ];
    }),
  ];
  let text = '%PDF-1.7\n';
  const places = objects.map((object, index) => {
    const place = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return place;
  });
  const table = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
  for (const place of places) text += `${String(place).padStart(10, '0')} 00000 n \n`;
  text += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`;
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
