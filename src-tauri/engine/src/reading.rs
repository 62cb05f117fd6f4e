//! A summary against the pages that it is about: which pages it names, what it quotes, and whether the pages
//! say so. Nothing here reads files or asks anybody.

mod closest;
mod fold;
mod marks;
mod quotes;
mod references;
mod source;

pub(crate) use self::marks::named_pages;
pub(crate) use self::quotes::quotes;
pub(crate) use self::references::references_from;
pub(crate) use self::source::Source;
