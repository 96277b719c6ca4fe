//! An NVIDIA GPU set up for one stream of work.

use candle_core::cuda_backend::cudarc::driver::{result, sys};
use candle_core::{Device, Error, Result};

/// Opens a GPU, counted from 0. All threads share one stream.
///
/// # Errors
/// There is no such GPU, or no driver.
pub fn open(ordinal: usize) -> Result<Device> {
    let device = Device::new_cuda_with_stream(ordinal)?;
    let cuda = device.as_cuda_device()?;
    // SAFETY: without events, work on several streams would not wait for each other. There is one stream.
    unsafe { cuda.disable_event_tracking() };
    keep_freed_memory(cuda.cuda_stream().context().cu_device()).map_err(Error::wrap)?;
    Ok(device)
}

/// Keeps freed memory for the next allocation. By default the driver returns it to the system whenever the host waits for the
/// GPU, which is once a training step.
fn keep_freed_memory(device: sys::CUdevice) -> std::result::Result<(), result::DriverError> {
    let mut all = u64::MAX;
    // SAFETY: the device exists, and this attribute is a 64-bit number.
    unsafe {
        let pool = result::device::get_default_mem_pool(device)?;
        let attribute = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        result::mem_pool::set_attribute(pool, attribute, (&raw mut all).cast())
    }
}
