//! Inputs that are out to crash or to stall the gateway.
