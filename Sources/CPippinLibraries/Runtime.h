// Of the Swift runtime, which every Swift program is linked with. The standard library gives these no name.

/// Retains an object unless its deinitialization has begun; returns the object, or NULL then. What a weak reference
/// does when it is read.
void *_Nullable swift_tryRetain(void *_Nonnull object);

#ifdef __ELF__
// The section in which the compiler lists the types of the program; the linker names its ends.
extern const char __start_swift5_type_metadata __attribute__((visibility("hidden")));
extern const char __stop_swift5_type_metadata __attribute__((visibility("hidden")));

/// The first of the program's type records, each of them four bytes.
static inline const void *_Nonnull firstTypeRecord(void) { return &__start_swift5_type_metadata; }

/// Where the program's type records end.
static inline const void *_Nonnull endOfTypeRecords(void) { return &__stop_swift5_type_metadata; }
#endif
