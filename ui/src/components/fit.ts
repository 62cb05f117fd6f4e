/** Shortens text in its middle until it fits. */

let context: CanvasRenderingContext2D | null | undefined;

/** Width of `text` in CSS pixels; 0 where nothing can be measured. */
function widthOf(text: string, font: string): number {
  context ??= document.createElement('canvas').getContext('2d');
  if (!context) return 0;
  context.font = font;
  return context.measureText(text).width;
}

/** Keeps as much of the head as fits before an ellipsis and the last `tailLength` letters. */
export function fitMiddle(text: string, tailLength: number, width: number, font: string): string {
  if (width <= 0 || widthOf(text, font) <= width) return text;
  const letters = Array.from(text);
  const tail = letters.slice(-tailLength).join('');
  let low = 1;
  let high = Math.max(1, letters.length - tailLength);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (widthOf(`${letters.slice(0, middle).join('')}…${tail}`, font) <= width) low = middle;
    else high = middle - 1;
  }
  return `${letters.slice(0, low).join('')}…${tail}`;
}
