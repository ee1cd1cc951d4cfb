//! End to end: the real binary, real sockets, real processes.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // all of this is test code, and some of it reports figures

mod access;
mod command_line;
mod deployment;
mod documents;
mod execution;
mod hostile_frames;
mod hostile_sockets;
mod processes;
mod sight;
