//! Named tensors that are learnt: what is entry, what is held, and the loss' derivatives by it.
//!
//! A layer adds its parameters to a [`ParameterSpec`], each by name, shape and start; [`Parameters`] are drawn from any plan or
//! checked against it, and [`Gradients`] and the optimiser go by the names alone. So a regression of one number trains
//! with the same code as the translator.

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
