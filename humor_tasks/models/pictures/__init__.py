"""Pictures for the networks of this process: resized to squares of bytes on the CPU, normalised on the device."""
