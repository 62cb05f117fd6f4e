//! Reading PDFs: always in a child process, since a hostile file can kill whoever reads it.
