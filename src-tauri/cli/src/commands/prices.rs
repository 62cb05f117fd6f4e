//! `gistmill prices`

use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::{LongPromptPrice, ModelPrice, PriceTable, PriceView};

use crate::arguments::PriceArguments;
use crate::output::{Failed, Output};
use crate::shown::{columns, exact};

pub(crate) async fn show(engine: &Engine, output: Output) -> Result<ExitCode, Failed> {
    print(&engine.prices().await?, output)
}

pub(crate) async fn set(
    engine: &Engine,
    arguments: PriceArguments,
    output: Output,
) -> Result<ExitCode, Failed> {
    let known = engine
        .prices()
        .await?
        .prices
        .into_iter()
        .find(|known| known.price.model == arguments.model.trim())
        .and_then(|known| known.price.long_prompt);
    print(&engine.save_price(price(arguments, known)).await?, output)
}

pub(crate) async fn free(
    engine: &Engine,
    model: String,
    output: Output,
) -> Result<ExitCode, Failed> {
    let price = ModelPrice {
        model,
        input: 0,
        output: 0,
        cache_write: 0,
        cache_read: 0,
        batch_percent: 100,
        long_prompt: None,
    };
    print(&engine.save_price(price).await?, output)
}

pub(crate) async fn reset(
    engine: &Engine,
    model: String,
    output: Output,
) -> Result<ExitCode, Failed> {
    let table = engine.prices().await?;
    if !table
        .prices
        .iter()
        .any(|known| known.own && known.price.model == model)
    {
        return Err(Failed::usage(
            &format!("No price of {model} was set here."),
            "“gistmill prices” marks those that were with “yours”.",
        ));
    }
    print(&engine.remove_price(model).await?, output)
}

/// Returns the price that was given. Dearer prices of long prompts stay, and never become cheaper than
/// those of short ones: a cap relies on them.
fn price(given: PriceArguments, long_prompt: Option<LongPromptPrice>) -> ModelPrice {
    let part = |percent: i64| given.input.saturating_mul(percent).saturating_add(99) / 100;
    let cache_write = given.cache_write.unwrap_or_else(|| part(125));
    let cache_read = given.cache_read.unwrap_or_else(|| part(10));
    ModelPrice {
        long_prompt: long_prompt.map(|long| LongPromptPrice {
            over_tokens: long.over_tokens,
            input: long.input.max(given.input),
            output: long.output.max(given.output),
            cache_write: long.cache_write.max(cache_write),
            cache_read: long.cache_read.max(cache_read),
        }),
        model: given.model,
        input: given.input,
        output: given.output,
        cache_write,
        cache_read,
        batch_percent: given.batch_percent,
    }
}

fn print(table: &PriceTable, output: Output) -> Result<ExitCode, Failed> {
    output.either(table, || text(table))?;
    Ok(ExitCode::SUCCESS)
}

fn text(table: &PriceTable) -> String {
    let rows = table.prices.iter().flat_map(rows);
    let headings = [
        "MODEL",
        "INPUT",
        "OUTPUT",
        "CACHE-WRITE",
        "CACHE-READ",
        "BATCH",
        "",
    ];
    format!(
        "{}\n\nDollars per million tokens. Shipped prices are those of {}.",
        columns(headings, rows, &[1, 2, 3, 4, 5]),
        table.shipped_on
    )
}

fn rows(view: &PriceView) -> Vec<[String; 7]> {
    let price = &view.price;
    let is_free = [
        price.input,
        price.output,
        price.cache_write,
        price.cache_read,
    ]
    .iter()
    .all(|rate| *rate == 0);
    let mut rows = vec![[
        price.model.clone(),
        exact(price.input),
        exact(price.output),
        exact(price.cache_write),
        exact(price.cache_read),
        format!("{} %", price.batch_percent),
        match (view.own, is_free) {
            (true, true) => "yours: free",
            (true, false) => "yours",
            (false, _) => "",
        }
        .to_owned(),
    ]];
    rows.extend(price.long_prompt.map(|long| {
        [
            format!("  over {} tokens", long.over_tokens),
            exact(long.input),
            exact(long.output),
            exact(long.cache_write),
            exact(long.cache_read),
            String::new(),
            String::new(),
        ]
    }));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(input: i64, output: i64) -> PriceArguments {
        PriceArguments {
            model: "llama".to_owned(),
            input,
            output,
            cache_write: None,
            cache_read: None,
            batch_percent: 50,
        }
    }

    #[test]
    fn cache_prices_that_nobody_gave_follow_from_the_input() {
        let price = price(given(3_000_000, 15_000_000), None);
        assert_eq!((price.cache_write, price.cache_read), (3_750_000, 300_000));
        let price = super::price(given(1, 1), None);
        assert_eq!((price.cache_write, price.cache_read), (2, 1), "rounded up");
    }

    #[test]
    fn long_prompts_never_become_cheaper_than_short_ones() {
        let long = LongPromptPrice {
            over_tokens: 100_000,
            input: 500_000,
            output: 2_500_000,
            cache_write: 625_000,
            cache_read: 50_000,
        };
        let kept = price(given(1_000_000, 2_000_000), Some(long)).long_prompt;
        assert_eq!(
            kept.map(|long| (long.over_tokens, long.input, long.output)),
            Some((100_000, 1_000_000, 2_500_000))
        );
    }
}
