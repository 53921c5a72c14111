/// Whether a type is an `Optional`, as the runtime says. A cast finds it out, too, slowly.
func isOptional(_ type: Any.Type) -> Bool { metadataKind(of: type) == 0x202 }

/// Whether a type is an enumeration other than `Optional`, as the runtime says.
func isEnumeration(_ type: Any.Type) -> Bool { metadataKind(of: type) == 0x201 }

/// Of the Swift runtime; declared as in the standard library, which uses it to reflect values. The kinds are those of
/// its `_MetadataKind`.
@_silgen_name("swift_getMetadataKind")
private func metadataKind(of type: Any.Type) -> UInt
