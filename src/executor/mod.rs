pub(crate) mod apart;
mod rate_limiter;

pub(crate) use apart::pool;
pub(crate) use rate_limiter::RateLimiter;
