// The file that precompiled headers are made with (headroom_precompiled_headers in headroom.cmake).
