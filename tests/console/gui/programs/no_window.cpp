// Loaded before GLFW: a desktop that gives no window and no reason (seen under some of them).
extern "C" void* glfwCreateWindow(int, int, const char*, void*, void*) { return nullptr; }
