/**
 * The PDF beside the summary, drawn by pdf.js. A chunk of its own: it is loaded when the first PDF is opened.
 *
 * Everything comes from the window's own files, nothing is evaluated, and no WebAssembly is used, so that the
 * window's policy needs no exception for it.
 */
import {
  getDocument,
  PDFDataRangeTransport,
  PDFWorker,
  TextLayer,
  type PDFDocumentLoadingTask,
  type PDFDocumentProxy,
} from 'pdfjs-dist/legacy/build/pdf.mjs';
import workerUrl from 'pdfjs-dist/legacy/build/pdf.worker.min.mjs?url';
import pictureDecoderUrl from 'pdfjs-dist/wasm/openjpeg_nowasm_fallback.js?url';
import type { Backend } from '../backend/backend';
import type { JobId } from '../backend/types/JobId';

const CMAPS = import.meta.glob<string>('/node_modules/pdfjs-dist/cmaps/*.bcmap', {
  query: '?url',
  import: 'default',
  eager: true,
});
const FONTS = import.meta.glob<string>('/node_modules/pdfjs-dist/standard_fonts/*.{pfb,ttf}', {
  query: '?url',
  import: 'default',
  eager: true,
});

/** What the engine answers in one piece at most. */
const LARGEST_PIECE = 1 << 20;
/** Fewer, larger pieces than usual: each one is a call of the engine. */
const PIECE = 1 << 18;
/** A canvas of more pixels is refused by some web views. */
const MOST_PIXELS = 1 << 24;

const folderOf = (url: string): string => new URL('.', new URL(url, document.baseURI)).href;

async function bundled(url: string | undefined, name: string): Promise<Uint8Array> {
  if (url === undefined) throw new Error(`${name} is not bundled`);
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}

/** Tables of characters, which PDFs in Japanese, Chinese and Korean name instead of bringing them along. */
class BundledCMaps {
  async fetch({ name }: { name: string }): Promise<{ cMapData: Uint8Array; isCompressed: boolean }> {
    const cMapData = await bundled(CMAPS[`/node_modules/pdfjs-dist/cmaps/${name}.bcmap`], name);
    return { cMapData, isCompressed: true };
  }
}

/** The fonts that every PDF may use without bringing them along. */
class BundledFonts {
  fetch({ filename }: { filename: string }): Promise<Uint8Array> {
    return bundled(FONTS[`/node_modules/pdfjs-dist/standard_fonts/${filename}`], filename);
  }
}

class EngineRange extends PDFDataRangeTransport {
  constructor(
    private readonly backend: Backend,
    private readonly jobId: JobId,
    length: number,
    private readonly onfailure: (reason: unknown) => void,
  ) {
    super(length, null);
  }

  override requestDataRange(begin: number, end: number): void {
    void this.read(begin, end).catch((reason: unknown) => this.onfailure(reason));
  }

  private async read(begin: number, end: number): Promise<void> {
    const bytes = new Uint8Array(end - begin);
    for (let at = begin; at < end;) {
      const piece = new Uint8Array(
        await this.backend.documentBytes(this.jobId, at, Math.min(LARGEST_PIECE, end - at)),
      );
      if (piece.length === 0) throw new Error('The file ends before it should.');
      bytes.set(piece.subarray(0, end - at), at - begin);
      at += piece.length;
    }
    this.onDataRange(begin, bytes);
  }
}

/** Where a page is drawn. */
export interface PageHost {
  canvas: HTMLCanvasElement;
  text: HTMLElement;
}

/** A page's pieces of text, with the elements that they are in. */
export interface PageText {
  strings: string[];
  elements: HTMLElement[];
}

export class PdfView {
  private constructor(
    private readonly task: PDFDocumentLoadingTask,
    private readonly document: PDFDocumentProxy,
    private readonly worker: PDFWorker,
    private readonly thread: Worker,
  ) {}

  /**
   * Opens a document that the engine has made ready. Rejects where it can't be read; `onfailure` is told what keeps it
   * from being read later on.
   */
  static async open(
    backend: Backend,
    jobId: JobId,
    bytes: number,
    onfailure: (reason: unknown) => void,
  ): Promise<PdfView> {
    const thread = new Worker(workerUrl, { type: 'module' });
    const worker = PDFWorker.create({ port: thread });
    let fail: (reason: unknown) => void = () => undefined;
    const failed = new Promise<never>((_, reject) => (fail = reject));
    failed.catch(onfailure);
    thread.addEventListener('error', () => fail(new Error('The reader’s worker did not start.')));
    const task = getDocument({
      range: new EngineRange(backend, jobId, bytes, fail),
      worker,
      rangeChunkSize: PIECE,
      disableAutoFetch: true,
      disableStream: true,
      isEvalSupported: false,
      enableXfa: false,
      useWasm: false,
      useWorkerFetch: false,
      wasmUrl: folderOf(pictureDecoderUrl),
      CMapReaderFactory: BundledCMaps,
      StandardFontDataFactory: BundledFonts,
      // The system's fonts have other widths than those that a PDF without fonts was laid out for.
      useSystemFonts: false,
      // What is wrong with a PDF is said by what it rejects with.
      verbosity: 0,
    });
    try {
      const opened = await Promise.race([task.promise, failed]);
      return new PdfView(task, opened, worker, thread);
    } catch (reason) {
      void task.destroy().finally(() => thread.terminate());
      throw reason;
    }
  }

  get pages(): number {
    return this.document.numPages;
  }

  /** A page's width in CSS pixels at 100 %. */
  async width(number: number): Promise<number> {
    const page = await this.document.getPage(number);
    return page.getViewport({ scale: 96 / 72 }).width;
  }

  /** Draws a page at a scale (1 for 100 %), and answers its text. */
  async draw(number: number, scale: number, host: PageHost, signal: AbortSignal): Promise<PageText> {
    const page = await this.document.getPage(number);
    signal.throwIfAborted();
    const viewport = page.getViewport({ scale: (scale * 96) / 72 });
    const wanted = window.devicePixelRatio || 1;
    const sharp = Math.min(wanted, Math.sqrt(MOST_PIXELS / (viewport.width * viewport.height)));
    // Drawn aside and shown at once, so that the page before stays until this one is ready.
    const canvas = document.createElement('canvas');
    canvas.width = Math.floor(viewport.width * sharp);
    canvas.height = Math.floor(viewport.height * sharp);
    const drawing = page.render({
      canvas,
      viewport,
      ...(sharp === 1 ? {} : { transform: [sharp, 0, 0, sharp, 0, 0] }),
    });
    const stop = (): void => drawing.cancel();
    signal.addEventListener('abort', stop, { once: true });
    try {
      const [content] = await Promise.all([page.getTextContent(), drawing.promise]);
      signal.throwIfAborted();
      host.canvas.width = canvas.width;
      host.canvas.height = canvas.height;
      host.canvas.style.width = `${viewport.width}px`;
      host.canvas.style.height = `${viewport.height}px`;
      host.canvas.getContext('2d')?.drawImage(canvas, 0, 0);
      host.text.replaceChildren();
      host.text.style.setProperty('--total-scale-factor', String(viewport.scale));
      const layer = new TextLayer({ textContentSource: content, container: host.text, viewport });
      await layer.render();
      signal.throwIfAborted();
      return { strings: layer.textContentItemsStr, elements: layer.textDivs };
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  async close(): Promise<void> {
    await this.task.destroy();
    this.worker.destroy();
    this.thread.terminate();
  }
}
