//! Product of tiles by AMX: `tdpbf16ps` multiplies two whole tiles (Intel Architecture Instruction Set Extensions Programming
//! Reference, chapter 3).

use std::arch::asm;
use std::arch::x86_64::__cpuid_count;
use std::marker::PhantomData;
use std::sync::LazyLock;

use super::{Sums, Tile};
use crate::kernels::simd::allows_avx512;

/// Bytes of a row of a tile register.
const ROW: usize = 64;

/// Use of the tile registers by this thread, until it is dropped. Only one exists per thread at a time, since dropping it releases
/// all registers.
pub struct TileRegisters(PhantomData<*const ()>);

/// Operand of `ldtilecfg`: palette 1, and for each of eight registers 16 rows of 64 bytes.
#[repr(C, align(64))]
struct TileConfig {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

/// True if the processor has the instructions, and the operating system lets this process use them.
fn is_available() -> bool {
    /// Bits of CPUID leaf 7, register EDX: AMX-BF16 and AMX-TILE.
    const FEATURES: u32 = 1 << 22 | 1 << 24;
    /// `ARCH_REQ_XCOMP_PERM` of arch_prctl(2), and the state component of the tile registers.
    const REQUEST_PERMISSION: libc::c_long = 0x1023;
    const TILE_DATA: libc::c_long = 18;
    static AVAILABLE: LazyLock<bool> = LazyLock::new(|| {
        __cpuid_count(0, 0).eax >= 7
            && __cpuid_count(7, 0).edx & FEATURES == FEATURES
            // SAFETY: the call has no effect on memory. Kernels that do not know it return an error.
            && unsafe { libc::syscall(libc::SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) } == 0
    });
    *AVAILABLE
}

impl TileRegisters {
    /// Configures the registers of this thread if the processor has them, the operating system lets this process use them, and
    /// [`limit_simd`](crate::kernels::simd::limit_simd) allows it.
    pub fn configure() -> Option<Self> {
        if !allows_avx512() || !is_available() {
            return None;
        }
        let mut config = TileConfig { palette: 1, start_row: 0, reserved: [0; 14], row_bytes: [0; 16], rows: [0; 16] };
        config.row_bytes[..8].fill(ROW as u16);
        config.rows[..8].fill(16);
        // SAFETY: the processor has the instruction, and `config` is a valid operand of it.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const config, options(nostack, preserves_flags, readonly)) };
        Some(Self(PhantomData))
    }

    /// Writes the sums over all tiles of terms of two tiles of rows and two tiles of columns; see
    /// [`TileKernel::multiply`](super::product::TileKernel::multiply).
    pub fn multiply(&self, [upper, lower]: [&[Tile]; 2], [first, second]: [&[Tile]; 2], sums: &mut Sums) {
        let count = upper.len();
        assert!(
            count > 0 && first.len() == count && [lower, second].iter().all(|tiles| [0, count].contains(&tiles.len()))
        );
        // Sums of tiles that are missing are not used: those of the others take their place.
        let second = if second.is_empty() { first } else { second };
        let right = [first, second].map(<[Tile]>::as_ptr);
        if lower.is_empty() {
            // SAFETY: the registers are configured, all pointers have `count` tiles, and `sums` has both tiles written.
            unsafe { multiply_row(upper.as_ptr(), right, count, sums) };
        } else {
            let left = [upper, lower].map(<[Tile]>::as_ptr);
            // SAFETY: the registers are configured, all pointers have `count` tiles, and `sums` has four tiles written.
            unsafe { multiply_square(left, right, count, sums) };
        }
    }
}

impl Drop for TileRegisters {
    fn drop(&mut self) {
        // SAFETY: the registers are in use, so the instruction exists.
        unsafe { asm!("tilerelease", options(nostack, preserves_flags, nomem)) };
    }
}

/// Writes the product of two tiles of rows by two tiles of columns.
///
/// # Safety
/// The registers are configured, and each pointer has `count` > 0 tiles.
unsafe fn multiply_square(left: [*const Tile; 2], right: [*const Tile; 2], count: usize, sums: &mut Sums) {
    // SAFETY: reads `count` tiles from each pointer, writes `sums`, and changes registers that Rust does not use.
    unsafe {
        asm!(
            "tilezero tmm0",
            "tilezero tmm1",
            "tilezero tmm2",
            "tilezero tmm3",
            "2:",
            "tileloadd tmm4, [{upper} + {row}]",
            "tileloadd tmm6, [{first} + {row}]",
            "tdpbf16ps tmm0, tmm4, tmm6",
            "tileloadd tmm7, [{second} + {row}]",
            "tdpbf16ps tmm1, tmm4, tmm7",
            "tileloadd tmm5, [{lower} + {row}]",
            "tdpbf16ps tmm2, tmm5, tmm6",
            "tdpbf16ps tmm3, tmm5, tmm7",
            "add {upper}, 1024",
            "add {lower}, 1024",
            "add {first}, 1024",
            "add {second}, 1024",
            "dec {count}",
            "jnz 2b",
            "tilestored [{sums} + {sums_row}], tmm0",
            "tilestored [{sums} + {sums_row} + 64], tmm1",
            "tilestored [{sums} + {sums_row} + 2048], tmm2",
            "tilestored [{sums} + {sums_row} + 2112], tmm3",
            upper = inout(reg) left[0] => _,
            lower = inout(reg) left[1] => _,
            first = inout(reg) right[0] => _,
            second = inout(reg) right[1] => _,
            count = inout(reg) count => _,
            row = in(reg) ROW,
            sums = in(reg) &raw mut *sums,
            sums_row = in(reg) 2 * ROW,
            options(nostack),
        );
    }
}

/// Writes the product of one tile of rows by two tiles of columns.
///
/// # Safety
/// The registers are configured, and each pointer has `count` > 0 tiles.
unsafe fn multiply_row(left: *const Tile, right: [*const Tile; 2], count: usize, sums: &mut Sums) {
    // SAFETY: as in `multiply_square`.
    unsafe {
        asm!(
            "tilezero tmm0",
            "tilezero tmm1",
            "2:",
            "tileloadd tmm4, [{left} + {row}]",
            "tileloadd tmm6, [{first} + {row}]",
            "tdpbf16ps tmm0, tmm4, tmm6",
            "tileloadd tmm7, [{second} + {row}]",
            "tdpbf16ps tmm1, tmm4, tmm7",
            "add {left}, 1024",
            "add {first}, 1024",
            "add {second}, 1024",
            "dec {count}",
            "jnz 2b",
            "tilestored [{sums} + {sums_row}], tmm0",
            "tilestored [{sums} + {sums_row} + 64], tmm1",
            left = inout(reg) left => _,
            first = inout(reg) right[0] => _,
            second = inout(reg) right[1] => _,
            count = inout(reg) count => _,
            row = in(reg) ROW,
            sums = in(reg) &raw mut *sums,
            sums_row = in(reg) 2 * ROW,
            options(nostack),
        );
    }
}
