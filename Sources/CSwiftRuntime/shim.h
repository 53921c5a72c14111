// Of the Swift runtime, which every Swift program is linked with. The standard library gives these no name.

/// Retains an object unless its deinitialization has begun; returns the object, or NULL then. What a weak reference
/// does when it is read.
void *_Nullable swift_tryRetain(void *_Nonnull object);
