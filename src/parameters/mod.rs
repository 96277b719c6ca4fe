//! Named parameters: specification, storage and gradients.
//!
//! A layer adds its parameters to a [`ParameterSpec`] by name, shape and initialization. [`Parameters`] are initialized
//! from a spec or checked against one. [`Gradients`] and the optimizer refer to names alone, so that any model trains
//! with the same code.

mod derived;
mod gradients;
mod linear;
mod spec;
mod store;
mod views;

pub use gradients::Gradients;
pub use linear::Linear;
pub use spec::{Init, ParameterSpec};
pub use store::Parameters;
pub use views::ParameterViews;
