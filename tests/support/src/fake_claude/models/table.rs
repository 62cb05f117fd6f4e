//! The models as Anthropic describes them, by the list of November 2026.

/// How a model thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Thinking {
    /// With a budget, where it is asked for.
    Budgeted,
    /// By itself, where it is asked for.
    Adaptive,
    /// By itself, unless it is turned off.
    Usual,
    /// By itself; only between calls of tools can it be asked to be silent.
    Firm,
    /// By itself, always.
    Always,
}

#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Model {
    pub(in super::super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) line: Option<&'static str>,
    pub(super) created: &'static str,
    pub(super) deprecated: Option<&'static str>,
    pub(super) retires: Option<&'static str>,
    pub(in super::super) window: u64,
    pub(in super::super) output: u64,
    pub(in super::super) thinking: Thinking,
    /// Whether it counts about 30 % more tokens for the same text than the models before.
    pub(in super::super) counts_more: bool,
    /// Whether it can be made to go on from a beginning of its answer.
    pub(in super::super) takes_prefill: bool,
    /// Whether sampling parameters may have other values than the usual ones.
    pub(in super::super) takes_sampling: bool,
    /// Whether only verified organizations have it.
    pub(super) restricted: bool,
}

const LARGE: Model = Model {
    id: "",
    name: "",
    line: None,
    created: "",
    deprecated: None,
    retires: None,
    window: 1_000_000,
    output: 128_000,
    thinking: Thinking::Usual,
    counts_more: true,
    takes_prefill: false,
    takes_sampling: false,
    restricted: false,
};

/// A model of the 4.6 kind.
const EARLIER: Model = Model {
    thinking: Thinking::Adaptive,
    counts_more: false,
    takes_sampling: true,
    ..LARGE
};

/// A model of the 4.5 kind.
const SMALL: Model = Model {
    window: 200_000,
    output: 64_000,
    thinking: Thinking::Budgeted,
    takes_prefill: true,
    ..EARLIER
};

const fn named(
    kind: Model,
    id: &'static str,
    name: &'static str,
    line: &'static str,
    created: &'static str,
) -> Model {
    Model {
        id,
        name,
        line: Some(line),
        created,
        ..kind
    }
}

const FIRM: Model = Model {
    thinking: Thinking::Firm,
    ..LARGE
};
const ALWAYS: Model = Model {
    thinking: Thinking::Always,
    ..LARGE
};
const MYTHOS: Model = Model {
    restricted: true,
    ..ALWAYS
};
/// As it is not told whether Haiku 5.5 thinks by itself, it does so when asked.
const ASKED: Model = Model {
    thinking: Thinking::Adaptive,
    ..LARGE
};

/// The newest first, as the API lists them.
pub(super) const MODELS: [Model; 23] = [
    // Newer than any price table.
    Model {
        line: None,
        ..named(
            ASKED,
            "claude-preview-6",
            "Claude Preview 6",
            "",
            "2026-11-20",
        )
    },
    named(
        ALWAYS,
        "claude-fable-5-2",
        "Claude Fable 5.2",
        "fable",
        "2026-11-09",
    ),
    named(
        MYTHOS,
        "claude-mythos-5-2",
        "Claude Mythos 5.2",
        "mythos",
        "2026-11-09",
    ),
    named(
        ASKED,
        "claude-haiku-5-5",
        "Claude Haiku 5.5",
        "haiku",
        "2026-10-07",
    ),
    named(
        FIRM,
        "claude-sonnet-5-5",
        "Claude Sonnet 5.5",
        "sonnet",
        "2026-09-28",
    ),
    named(
        ALWAYS,
        "claude-opus-5-5",
        "Claude Opus 5.5",
        "opus",
        "2026-09-22",
    ),
    named(
        ALWAYS,
        "claude-fable-5-1",
        "Claude Fable 5.1",
        "fable",
        "2026-09-01",
    ),
    named(
        MYTHOS,
        "claude-mythos-5-1",
        "Claude Mythos 5.1",
        "mythos",
        "2026-09-01",
    ),
    named(
        LARGE,
        "claude-opus-5",
        "Claude Opus 5",
        "opus",
        "2026-07-24",
    ),
    named(
        LARGE,
        "claude-sonnet-5",
        "Claude Sonnet 5",
        "sonnet",
        "2026-06-30",
    ),
    named(
        ALWAYS,
        "claude-fable-5",
        "Claude Fable 5",
        "fable",
        "2026-06-09",
    ),
    named(
        MYTHOS,
        "claude-mythos-5",
        "Claude Mythos 5",
        "mythos",
        "2026-06-09",
    ),
    Model {
        thinking: Thinking::Adaptive,
        ..named(
            LARGE,
            "claude-opus-4-8",
            "Claude Opus 4.8",
            "opus",
            "2026-05-12",
        )
    },
    Model {
        thinking: Thinking::Adaptive,
        ..named(
            LARGE,
            "claude-opus-4-7",
            "Claude Opus 4.7",
            "opus",
            "2026-04-14",
        )
    },
    Model {
        deprecated: Some("2026-05-01"),
        retires: Some("2026-06-30"),
        ..named(
            MYTHOS,
            "claude-mythos-preview",
            "Claude Mythos Preview",
            "mythos",
            "2026-04-07",
        )
    },
    named(
        EARLIER,
        "claude-sonnet-4-6",
        "Claude Sonnet 4.6",
        "sonnet",
        "2026-02-17",
    ),
    named(
        EARLIER,
        "claude-opus-4-6",
        "Claude Opus 4.6",
        "opus",
        "2026-02-05",
    ),
    Model {
        deprecated: Some("2026-07-22"),
        retires: Some("2027-01-22"),
        ..named(
            SMALL,
            "claude-opus-4-5-20251101",
            "Claude Opus 4.5",
            "opus",
            "2025-11-24",
        )
    },
    named(
        SMALL,
        "claude-haiku-4-5-20251001",
        "Claude Haiku 4.5",
        "haiku",
        "2025-10-15",
    ),
    Model {
        deprecated: Some("2026-06-30"),
        retires: Some("2026-11-30"),
        ..named(
            SMALL,
            "claude-sonnet-4-5-20250929",
            "Claude Sonnet 4.5",
            "sonnet",
            "2025-09-29",
        )
    },
    // The last of a kind that is gone.
    Model {
        deprecated: Some("2025-10-28"),
        retires: Some("2026-02-19"),
        ..named(
            SMALL,
            "claude-3-7-sonnet-20250219",
            "Claude Sonnet 3.7",
            "sonnet",
            "2025-02-24",
        )
    },
    Model {
        deprecated: Some("2025-08-13"),
        retires: Some("2025-10-28"),
        ..named(
            SMALL,
            "claude-3-5-sonnet-20241022",
            "Claude Sonnet 3.5",
            "sonnet",
            "2024-10-22",
        )
    },
    Model {
        deprecated: Some("2025-06-30"),
        retires: Some("2026-01-05"),
        ..named(
            SMALL,
            "claude-3-opus-20240229",
            "Claude Opus 3",
            "opus",
            "2024-02-29",
        )
    },
];
