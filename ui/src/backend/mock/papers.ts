/** What stands in the played PDFs: filling, and on some pages the words that their summaries quote. */
import type { JobView } from '../types/JobView';
import type { PlayedPage } from './pdf';
import { SUMMARY_CUT_OFF, SUMMARY_JA } from './summaries';
import { summaryOf } from './results';

const FILLING = [
  'We grouped the sites by the way they had been managed before the first measurement, and kept the grouping for the whole of the record.',
  'Gaps of less than two hours were filled by interpolation. Longer gaps were left open and are shown as such in the figures.',
  'The difference held within each region and for every season in the sample. It was smaller in wet years, when the water table stayed within half a metre of the surface.',
  'Soil cores were taken at five depths and dried at forty degrees. Bulk density was measured on the same cores.',
];

const FILLING_JA = [
  '試験区は昭和五十四年に設置され、以来同じ管理が続けられている。',
  '土壌は五つの深さから採取し、風乾したのちに分析した。',
  '年ごとの変動は降水量と対応していたが、処理間の順位は変わらなかった。',
];

const ENGLISH: Record<number, string> = {
  14: 'In clay the gain was kept for the whole decade. The persistence of biochar carbon is governed by texture more than by feedstock. In sand it had faded after four years.',
};

const CUT_OFF: Record<number, string> = {
  4: 'Moderate grazing kept the grassland a sink in 19 of 26 site years. Sites without grazing did not differ from them.',
  7: 'All towers stood in the prevailing wind. Grazing intensity, not the kind of animal, explained most of the variation between sites. This held in dry and in wet years.',
  9: 'Chamber measurements were sparse. Nearly half of the sites were not measured in winter, when fluxes are small but last for months.',
  12: 'Heavy grazing turned four of six sites into sources within three years. Winter remains the largest gap in the record of temperate grassland.',
};

const JAPANESE: Record<number, string> = {
  3: '堆肥区の土壌炭素は表層十五センチで三割増えた。',
  11: '分画の結果は明瞭であった。黒ボク土の炭素貯留は、投入量よりも鉱物との結合に左右される。この傾向は深さによらない。',
};

/** Quotes that stand otherwise in the PDF: where, and how. */
export const DIFFERING: Record<string, { page: number; words: string }> = {
  'Half of all sites were never measured in winter.': {
    page: 9,
    words: 'Nearly half of the sites were not measured in winter',
  },
};

export function paperOf(job: JobView): PlayedPage[] {
  const summary = summaryOf(job);
  const [quoted, filling] =
    summary === SUMMARY_JA
      ? [JAPANESE, FILLING_JA]
      : [summary === SUMMARY_CUT_OFF ? CUT_OFF : ENGLISH, FILLING];
  return Array.from({ length: job.pages ?? 12 }, (_, index) => ({
    heading: job.title.replace(/\.pdf$/, ''),
    paragraphs: [0, 1, 2, 3, 4].map((at) => {
      const words = at === 2 ? quoted[index + 1] : undefined;
      return words ?? filling[(index + at) % filling.length] ?? '';
    }),
  }));
}
