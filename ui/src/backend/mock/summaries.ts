/** Summaries as a model and as the offline provider write them. */

export const SUMMARY_EN = `# Biochar raises soil carbon, yield gains depend on pH

Across 84 field trials, soil organic carbon rose **27%** in the top 30 cm (p. 1, p. 9).

## Findings

- Gains held ten years in clay and faded after four in sand (p. 14).
- Yield rose 11%, only below pH 6 (p. 17, p. 18).
- No trial above 40 t/ha measured N₂O (p. 22).

| Texture | Trials | Change after 10 years |
| --- | ---: | ---: |
| Clay | 31 | +29% |
| Loam | 38 | +18% |
| Sand | 15 | +3% |

## In the paper's own words

> The persistence of biochar carbon is governed by texture more than by feedstock.

The data set is at [the journal's archive](https://example.org/biochar-trials).
`;

export const SUMMARY_JA = `# 長期連用で土壌炭素は増加、増分は粘土質で持続

42 年の連用試験で、堆肥区の土壌炭素は表層 15 cm で **31%** 増えた（p.3）。

## 要点

- 増加分の 7 割は鉄・アルミニウムとの複合体として残った（p.11）。
- 無機肥料のみの区では 42 年間ほぼ横ばいだった（p.8）。
- 深さ 30 cm より下の変化は測定されていない（p.14）。

> 黒ボク土の炭素貯留は、投入量よりも鉱物との結合に左右される。
`;

export const SUMMARY_OFFLINE = `## Sentences from the document

- Crane 04 stopped with a load of 2.1 t when the wind reached 14 m/s.
- The anemometer alarm had been muted since the maintenance of 28 January.
- Nobody was hurt; the load was lowered by hand within forty minutes.
- The alarm can no longer be muted without a second signature.
`;

export const SUMMARY_CUT_OFF = `# Grazing intensity and grassland fluxes

Moderate grazing kept the grassland a sink in 19 of 26 site years (p. 4).

- Heavy grazing turned four of six sites into sources within three years (p. 12).
- Winter is called “the largest gap in the record of temperate grassland” (p. 12).

> “Grazing intensity, not the kind of animal, explained most of the variation between sites.” (p. 7)

> “Half of all sites were never measured in winter.” (p. 9)

- Methane from cattle offset
`;

export const SUMMARY_FIELDS = `| Field | Value |
| --- | --- |
| tenant | Harbour Row Trading Ltd |
| starts_on | 2026-04-01 |
| rent_per_year | 48,600 |
| break_clause | yes |
| obligations | roof, gutters; fire doors; shared loading bay |
`;
