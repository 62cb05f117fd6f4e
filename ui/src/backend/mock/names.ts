/** File and batch names of the played data: real-looking, in two scripts, some of them long. */

export const BATCHES = {
  soil: 'Soil carbon review',
  lease: 'Lease abstracts Q1',
  sustainability: 'Sustainability reports 2025',
  filings: '有価証券報告書 2025年3月期',
  incidents: 'Incident reports, Feb',
} as const;

export type BatchKey = keyof typeof BATCHES;

const WORDS: Record<BatchKey, { first: string[]; second: string[]; third: string[] }> = {
  soil: {
    first: [
      'saltmarsh',
      'compost-quality',
      'mycorrhizal',
      'deep-rooting',
      '黒ボク土',
      'cover-crops',
      'urban-soils',
      '水田土壌',
    ],
    second: [
      'blue-carbon',
      'indices',
      'inoculation',
      'cultivars',
      '有機物分解',
      'rotation',
      'amendments',
      'メタン放出',
    ],
    third: [
      'accretion-rates',
      'comparison',
      'drylands',
      'below-30cm',
      '長期連用試験',
      'review',
      'meta-analysis',
      '2024年度',
    ],
  },
  lease: {
    first: ['lease-agreement', 'lease-amendment', '賃貸借契約書', 'sublease'],
    second: ['unit-14B', 'Harbour-Row', '横浜港北倉庫', 'Quay-House'],
    third: ['2026-renewal', 'signed', '更新_2026年', 'draft-v3'],
  },
  sustainability: {
    first: ['Norrvik-Paper', '統合報告書2025', 'Hillcroft-Rail', 'Tidewater-Foods'],
    second: ['sustainability', 'あさぎり電子', 'climate', 'みなと物流'],
    third: ['report_2025', '本編', 'disclosure', 'データ集'],
  },
  filings: {
    first: ['有価証券報告書', '四半期報告書', '内部統制報告書'],
    second: ['さくら精工', '北都電力', '瀬戸内フェリー', 'みどり製薬'],
    third: ['第78期', '2025年3月期', '訂正版'],
  },
  incidents: {
    first: ['incident', 'near-miss', 'inspection'],
    second: ['crane-04', 'loading-bay', 'boiler-room', 'substation-2'],
    third: ['2026-02-03', '2026-02-11', '2026-02-17', 'follow-up'],
  },
};

/** The n-th name of a batch; the same every time. */
export function fileName(batch: BatchKey, n: number): string {
  const { first, second, third } = WORDS[batch];
  const pick = (words: string[], step: number): string => words[Math.floor(n / step) % words.length] ?? '';
  const round = Math.floor(n / (first.length * second.length));
  const parts = [pick(first, 1), pick(second, first.length), pick(third, 3)];
  return `${parts.join('_')}${round > 0 ? `_${round + 1}` : ''}.pdf`;
}
