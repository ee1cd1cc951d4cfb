//! sandbox

mod frame;
mod guest;
