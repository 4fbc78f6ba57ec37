//! Compiles the kernels as C++ for the emulated device, where its feature asks for it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "emulated-gpu")]
    {
        println!("cargo::rerun-if-changed=kernels");
        cc::Build::new()
            .cpp(true)
            .std("c++17")
            .opt_level(2)
            // The kernels use nothing of it.
            .cpp_link_stdlib(None)
            .warnings_into_errors(true)
            .file("kernels/emulated.cpp")
            .compile("queenfold_emulated");
    }
}
