//! The offline provider: an extract that can be trusted and read.

use gistmill_engine::model::{Cause, JobPhase};
use gistmill_engine::provider::offline::{METHOD, OfflineProvider};
use gistmill_engine::provider::{
    Answer, Billed, Deliver as _, DocumentContent, Failure, Progress, Request, RequestDocument,
    Usage,
};
use tokio_util::sync::CancellationToken;

use crate::claude::prompt;

struct Silent;

impl Progress for Silent {
    fn advanced(&self, _phase: JobPhase, _output_tokens: u64) {}
}

fn request(name: &str, pages: Vec<String>) -> Request {
    Request {
        document: Some(RequestDocument {
            content: DocumentContent::Text(pages),
            pages: None,
            first_page: 1,
            name: name.to_owned(),
        }),
        ..prompt("Summarize the document.")
    }
}

async fn extract(name: &str, pages: &[&str]) -> Result<Answer, Failure> {
    let pages = pages.iter().map(|page| (*page).to_owned()).collect();
    OfflineProvider
        .deliver(&request(name, pages), &Silent, &CancellationToken::new())
        .await
}

const PAPER: [&str; 3] = [
    "Journal of Small Programs 12 (2025)

Durable Queues for
Desktop Programs
A. Author and B. Writer
author@example.com

Abstract

A durable queue keeps the jobs of a desktop program over crashes and power
failures. We describe a durable queue that is built on an embedded database and
show that no job is lost when the machine stops at any moment. In 10,000 forced
stops the durable queue lost no job and repeated only those that were running.

1 Introduction

Desktop programs increasingly hand long work to remote services. Each piece of
work takes minutes, may fail for many reasons and costs money when it is re-
peated. Most programs keep such jobs in memory, so that a crash loses all of them.
Users then do not know which jobs were finished and which were not. Server
systems solved this problem long ago with message queues that write each job to
disk before they accept it.
1
",
    "Journal of Small Programs 12 (2025)

2 Design

The queue is a table of an embedded database with one writer. Every change of a
job is one transaction, so a job is always in exactly one state. A worker leases a
job for a limited time and renews the lease while it works. When a worker dies the
lease ends and the job is delivered again. The number of deliveries is limited, and
a job that fails too often is moved to a queue for dead letters.

Table 1: Results
state 12 44 1.5 99.2
state 13 45 1.6 99.3

Costs are bounded by a reservation that is made together with the lease. Because
both are written in the same transaction, a crash can never separate them.
2
",
    "Journal of Small Programs 12 (2025)

3 Results

We stopped the machine at random moments in 10,000 runs and counted the jobs.
No job was lost, and no finished job was ever delivered again by the queue. The
median time to accept a job was 1.2 milliseconds on an ordinary laptop. Group
commit made the queue four times faster when many jobs arrived together. We
conclude that a durable queue on an embedded database is fast enough for desktop
programs and safe enough for work that costs money.

References

[1] A. Person. A paper about something else entirely that must not be cited here. 1999.
3
",
];

#[tokio::test]
async fn a_paper_gets_a_readable_extract() {
    let answer = extract("durable.pdf", &PAPER).await.unwrap();
    let lines: Vec<&str> = answer.text.lines().collect();
    assert_eq!(lines[0], "# Durable Queues for Desktop Programs");
    assert!(lines[2].starts_with("> **Offline extract.**"));
    assert!(lines[2].ends_with("(lexrank-v1)"));
    assert!(lines[4].starts_with("**In one sentence:** "));
    assert!(lines[4].contains("durable queue"), "{}", lines[4]);
    assert_eq!(lines[6], "## Key sentences");
    let bullets: Vec<&&str> = lines.iter().filter(|line| line.starts_with("- ")).collect();
    assert!((3..=8).contains(&bullets.len()), "{}", answer.text);
    let pages: Vec<u32> = bullets
        .iter()
        .map(|bullet| {
            let (_, page) = bullet.rsplit_once("(p. ").unwrap();
            page.trim_end_matches(')').parse().unwrap()
        })
        .collect();
    assert!(pages.is_sorted(), "in the order of the document: {pages:?}");
    let terms = lines.last().unwrap();
    assert!(terms.starts_with("**Frequent terms:** "), "{terms}");
    assert!(terms.contains("durable queue"), "{terms}");

    assert_eq!(answer.model, METHOD);
    assert_eq!(answer.usage, Usage::default());
    assert_eq!(answer.review, None);
    assert_eq!(answer.request_id, None);
}

#[tokio::test]
async fn every_sentence_stands_in_the_document_on_its_page() {
    let answer = extract("durable.pdf", &PAPER).await.unwrap();
    let flat: Vec<String> = PAPER
        .iter()
        .map(|page| page.replace("re-\npeated", "repeated").replace('\n', " "))
        .collect();
    let quoted = answer.text.lines().filter_map(|line| {
        line.strip_prefix("- ")
            .or(line.strip_prefix("**In one sentence:** "))
    });
    for line in quoted {
        let (sentence, page) = line.rsplit_once(" (p. ").unwrap();
        let page: usize = page.trim_end_matches(')').parse().unwrap();
        assert!(flat[page - 1].contains(sentence), "{sentence}");
    }
}

#[tokio::test]
async fn furniture_is_no_part_of_it() {
    let answer = extract("durable.pdf", &PAPER).await.unwrap();
    for unwanted in [
        "Journal of",
        "Table 1",
        "author@",
        "state 12",
        "cited here",
        "Introduction",
    ] {
        assert!(!answer.text.contains(unwanted), "{unwanted}");
    }
}

#[tokio::test]
async fn the_same_document_gives_the_same_extract() {
    let first = extract("durable.pdf", &PAPER).await.unwrap();
    for _ in 0..3 {
        assert_eq!(extract("durable.pdf", &PAPER).await.unwrap(), first);
    }
}

#[tokio::test]
async fn a_japanese_document_is_extracted_in_japanese() {
    let pages = [
        "デスクトップのための永続キュー\n山田太郎\n\n1 はじめに\n\n近年、デスクトップのプログラムは、長い処理を遠隔のサービスに任せること\nが多くなっている。処理の途中で障害が起きると、どの仕事が終わったのかを\n利用者は知ることができない。本研究では、組み込みデータベースを用いて\n仕事を永続化する永続キューを提案する。永続キューは、仕事を受け付ける\n前に必ずディスクに書き込む。\n1",
        "2 設計\n\n永続キューでは、仕事の状態の変更を一つのトランザクションとして扱う。\n作業者は一定の時間だけ仕事を借り受け、処理のあいだは期限を延長する。\n作業者が停止した場合には、期限が切れた後に仕事が再び配送される。\n配送の回数には上限があり、失敗を繰り返した仕事は別のキューに移される。\n2",
        "3 結果\n\n電源を切る実験を一万回行ったところ、永続キューは仕事を一つも失わなかった。\n仕事を受け付ける時間の中央値は一・二ミリ秒であった。以上の結果から、\n組み込みデータベースによる永続キューは実用に十分な速さを持つと言える。\n3",
    ];
    let answer = extract("queue.pdf", &pages).await.unwrap();
    let text = &answer.text;
    assert!(
        text.starts_with("# デスクトップのための永続キュー\n"),
        "{text}"
    );
    assert!(text.contains("> **オフライン抜粋。**"), "{text}");
    assert!(text.contains("**一文で言うと：**"), "{text}");
    assert!(text.contains("## 重要な文"), "{text}");
    assert!(text.contains("。 (p. "), "{text}");
    let terms = text.lines().last().unwrap();
    assert!(terms.starts_with("**よく出る語：**"), "{terms}");
    assert!(
        terms.contains("キュー") && terms.contains("仕事"),
        "{terms}"
    );
    assert!(!text.contains("ミリ 秒"), "no spaces are put between");
}

#[tokio::test]
async fn text_of_the_document_is_never_markup() {
    let page = "A <script>alert(1)</script> tag in a sentence must stay harmless *always* and everywhere here.\n\n\
                The [link](javascript:x) of another sentence is only text, as is `code` and all the rest.\n\n\
                A third sentence about a link, a tag and some code makes the three of them whole prose.\n";
    let answer = extract("a_b*c.pdf", &[page]).await.unwrap();
    assert!(answer.text.starts_with("# "));
    for mark in ["<script>", "[link](", " *always*", " `code`"] {
        assert!(!answer.text.contains(mark), "{}", answer.text);
    }
    assert!(answer.text.contains("\\<script\\>") || answer.text.contains("\\[link\\]"));
}

#[tokio::test]
async fn without_text_there_is_nothing_to_pick() {
    for pages in [vec![], vec!["", ""], vec!["\n \n", "1"]] {
        let failure = extract("scan.pdf", &pages).await.unwrap_err();
        assert_eq!(failure.cause, Cause::PdfWithoutText);
        assert_eq!(failure.billed, Billed::No);
        assert!(
            failure.message.starts_with("scan.pdf has no text"),
            "{failure}"
        );
    }
}

#[tokio::test]
async fn slides_give_their_lines_and_the_file_its_name() {
    let slides = [
        "2024\n\n• Revenue grew in every region of the company\n• Costs were stable\n",
        "• Hiring resumes in the second quarter\n• Revenue forecast raised again\n",
    ];
    let answer = extract("board meeting.pdf", &slides).await.unwrap();
    assert!(answer.text.contains("Revenue"), "{}", answer.text);
}

#[tokio::test]
async fn a_huge_document_stays_quick_enough() {
    let sentence = |at: usize| {
        format!(
            "Sentence number words{} tells about queue{} and about crash{} of machine{} here.\n\n",
            at % 911,
            at % 97,
            at % 31,
            at % 7
        )
    };
    let pages: Vec<String> = (0..600)
        .map(|page| (0..40).map(|line| sentence(page * 40 + line)).collect())
        .collect();
    let huge = request("huge.pdf", pages);
    let began = std::time::Instant::now();
    let answer = OfflineProvider
        .deliver(&huge, &Silent, &CancellationToken::new())
        .await
        .unwrap();
    // It takes about a second without optimisation; without its bound it would take minutes.
    assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
    assert!(answer.text.contains("(p. "));
}

#[tokio::test]
async fn the_limit_of_the_output_is_kept() {
    let pages = PAPER.iter().map(|page| (*page).to_owned()).collect();
    let mut small = request("durable.pdf", pages);
    small.max_tokens = 60;
    let answer = OfflineProvider
        .deliver(&small, &Silent, &CancellationToken::new())
        .await
        .unwrap();
    assert!(answer.text.matches("(p. ").count() <= 3, "{}", answer.text);
}

#[tokio::test]
async fn prompts_are_extracted_when_they_are_texts_and_refused_otherwise() {
    let cancel = CancellationToken::new();
    let failure = OfflineProvider
        .deliver(&prompt("What is a gist?"), &Silent, &cancel)
        .await
        .unwrap_err();
    assert_eq!(failure.cause, Cause::InvalidRequest);
    assert!(
        failure.message.contains("can't answer a prompt"),
        "{failure}"
    );

    let text = [PAPER[1], PAPER[2]].concat();
    let answer = OfflineProvider
        .deliver(&prompt(&text), &Silent, &cancel)
        .await
        .unwrap();
    assert!(answer.text.starts_with("# Extract\n"), "{}", answer.text);
    assert!(!answer.text.contains("(p. "), "a prompt has no pages");
}

#[tokio::test]
async fn a_pdf_in_place_of_its_text_is_refused() {
    let mut unread = request("unread.pdf", Vec::new());
    if let Some(document) = &mut unread.document {
        document.content = DocumentContent::File {
            path: "unread.pdf".into(),
            bytes: 1,
        };
    }
    let failure = OfflineProvider
        .deliver(&unread, &Silent, &CancellationToken::new())
        .await
        .unwrap_err();
    assert_eq!(failure.cause, Cause::InvalidRequest);
    assert_eq!(failure.billed, Billed::No);
}

#[tokio::test]
async fn stopped_work_ends_at_once() {
    let cancel = CancellationToken::new();
    let sentence = "The queue of the machine keeps every job of the house over a crash.\n\n";
    let request = request("paper.pdf", vec![sentence.repeat(200); 600]);
    let stop = async { cancel.cancel() };
    let (end, ()) = tokio::join!(OfflineProvider.deliver(&request, &Silent, &cancel), stop);
    let failure = end.unwrap_err();
    assert_eq!(failure.cause, Cause::Interrupted);
    assert_eq!(failure.billed, Billed::No);
}
