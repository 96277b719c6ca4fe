//! Named tensors that are learnt: what is planned, what is held, and the loss' derivatives by it.
//!
//! A layer adds its parameters to a [`Plan`], each by name, shape and start; [`Parameters`] are drawn from any plan or
//! checked against it, and [`Gradients`] and the optimiser go by the names alone. So a regression of one number trains
//! with the same code as the translator.

mod gradients;
mod held;
mod linear;
mod plan;
mod slices;

pub use gradients::Gradients;
pub use held::Parameters;
pub use linear::Linear;
pub use plan::{Plan, Start};
pub use slices::Slices;
