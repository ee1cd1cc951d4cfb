//! Timers and the clock.

use std::time::Duration;

use rquickjs::{Ctx, Function, Object, Result};

use super::super::{TimerId, Web};

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    natives.set("setTimer", Function::new(ctx.clone(), set_timer)?)?;
    natives.set("clearTimer", Function::new(ctx.clone(), clear_timer)?)?;
    natives.set("now", Function::new(ctx.clone(), now)?)?;
    natives.set("timeOrigin", Function::new(ctx.clone(), time_origin)?)
}

/// `setTimer(delay ms, repeat) -> id`. An interval has a period of at least one millisecond, so that one that never
/// ends leaves time for everything else.
fn set_timer(ctx: Ctx<'_>, delay: f64, repeat: bool) -> u32 {
    let Some(web) = ctx.userdata::<Web<'_>>() else { return 0 };
    let now = web.now();
    let delay = Duration::try_from_secs_f64(delay.max(0.0) / 1000.0).unwrap_or(Duration::ZERO);
    let every = repeat.then(|| delay.max(Duration::from_millis(1)));
    let TimerId(id) = web.timers.borrow_mut().set(now, delay, every);
    id
}

fn clear_timer(ctx: Ctx<'_>, id: u32) {
    if let Some(web) = ctx.userdata::<Web<'_>>() {
        web.timers.borrow_mut().clear(TimerId(id));
    }
}

/// Milliseconds since the origin of the run, in steps of five microseconds: High Resolution Time, 7.1, allows no finer.
fn now(ctx: Ctx<'_>) -> f64 {
    ctx.userdata::<Web<'_>>().map_or(0.0, |web| (web.now().as_micros() / 5) as f64 / 200.0)
}

/// Milliseconds since the epoch at the origin of the run.
fn time_origin(ctx: Ctx<'_>) -> f64 {
    ctx.userdata::<Web<'_>>().map_or(0.0, |web| web.origin_epoch.get())
}
