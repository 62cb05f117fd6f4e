//! Pictures of pages.

use hayro::hayro_interpret::InterpreterSettings;
use hayro::hayro_syntax::Pdf;
use hayro::hayro_syntax::object::dict::keys::{HEIGHT, RESOURCES, WIDTH};
use hayro::hayro_syntax::object::{Dict, Stream};
use hayro::hayro_syntax::page::Resources;
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::{PixmapSettings, RenderCache, RenderSettings, render};

use super::finding;
use crate::model::{Cause, Finding};

/// Most pixels of a side.
const MAX_SIDE: u32 = 2000;

/// Most pixels of an image in a page: it is held in memory as a whole, however small it is drawn.
const MAX_IMAGE_PIXELS: u64 = 100_000_000;

/// Most images and forms of a page that are looked at.
const MAX_LOOKED_AT: usize = 10_000;

/// Draws a page, counted from 1, on white, and returns a PNG; gives nothing when there is no such page.
pub(super) fn of(pdf: &Pdf, page: u32, largest_side: u32) -> Result<Option<Vec<u8>>, Finding> {
    let index = (page as usize).checked_sub(1);
    let Some(page) = index.and_then(|index| pdf.pages().get(index)) else {
        return Ok(None);
    };
    if let Some(pixels) = too_large_image(page.resources()) {
        return Err(finding(
            Cause::TooLarge,
            format!(
                "This page can't be shown: an image in it has {} megapixels.",
                pixels / 1_000_000
            ),
        ));
    }
    let (width, height) = page.render_dimensions();
    let side = largest_side.clamp(1, MAX_SIDE) as f32;
    let longer = width.max(height);
    if !longer.is_finite() || longer <= 0.0 {
        return Err(not_shown());
    }
    // The size is rounded down when it is drawn; a page as thin as a thread still has a pixel.
    let scale = |length: f32| {
        let pixels = (length * side / longer).round().max(1.0);
        (pixels + 0.01) / length.max(f32::MIN_POSITIVE)
    };
    let size = PixmapSettings {
        x_scale: scale(width),
        y_scale: scale(height),
        bg_color: WHITE,
    };
    let cache = RenderCache::new();
    let settings = InterpreterSettings::default();
    let pixels = render(page, &cache, &settings, &RenderSettings::default(), &size);
    pixels.into_png().map(Some).map_err(|_| not_shown())
}

/// Says that a page can be counted, but not drawn.
pub(super) fn not_shown() -> Finding {
    finding(
        Cause::PdfDamaged,
        "This page is damaged: it can't be shown.",
    )
}

/// Looks for an image that is too large, also within forms, and returns its pixels.
fn too_large_image(resources: &Resources<'_>) -> Option<u64> {
    let mut waiting = vec![resources.x_objects.clone()];
    let mut looked_at = 0;
    while let Some(objects) = waiting.pop() {
        for (name, _) in objects.entries() {
            looked_at += 1;
            if looked_at > MAX_LOOKED_AT {
                return None;
            }
            let Some(stream) = objects.get::<Stream<'_>>(name) else {
                continue;
            };
            let side = |key: &[u8]| u64::from(stream.dict().get::<u32>(key).unwrap_or(0));
            let pixels = side(WIDTH).saturating_mul(side(HEIGHT));
            if pixels > MAX_IMAGE_PIXELS {
                return Some(pixels);
            }
            if let Some(own) = stream.dict().get::<Dict<'_>>(RESOURCES) {
                waiting.push(Resources::new(own).x_objects);
            }
        }
    }
    None
}
