/// Which classes override `validateValue(_:forKey:)`.
///
/// A class's metadata lists the methods that its objects run, those of its superclasses at the places where their
/// metadata has them, too. A class overrides the method if it has another word than `NSManagedObject` at its place.
///
/// Unsafe: it reads data written by the compiler. Later compilers keep the header, since it is part of the stable ABI.
/// The place of the method is none, so it is found by comparing.
enum ValidationOverrides {
    /// Whether a class, or a superclass below `NSManagedObject`, overrides the method.
    static func exist(in type: NSManagedObject.Type) -> Bool {
        guard let place, type != NSManagedObject.self else { return false }
        return word(of: type, at: place) != word(of: NSManagedObject.self, at: place)
    }

    /// The only place where a class that overrides just this method differs from `NSManagedObject`, and one that
    /// overrides nothing does not; `nil` if there is no such place, or several.
    private static let place: Int? = {
        #if os(Linux) || os(Android)
            let end = size(of: NSManagedObject.self)
            let places = stride(from: headerSize, to: end, by: wordSize).filter { place in
                let inherited = word(of: NSManagedObject.self, at: place)
                return word(of: OverridingProbe.self, at: place) != inherited
                    && word(of: PlainProbe.self, at: place) == inherited
            }
            return places.count == 1 ? places.first : nil
        #else
            return nil
        #endif
    }()

    // MARK: Metadata

    private static let wordSize = MemoryLayout<UInt>.size
    /// What comes before a class's own words: kind, superclass, four numbers of 32 bits and one in two halves,
    /// description, and the destructor of instance variables.
    private static let headerSize = 4 * wordSize + 24

    private static func word(of type: AnyClass, at place: Int) -> UInt {
        metadata(of: type).load(fromByteOffset: place, as: UInt.self)
    }

    /// The size of the metadata from the address of the class on.
    private static func size(of type: AnyClass) -> Int {
        let (whole, before) = (2 * wordSize + 16, 2 * wordSize + 20)
        let words = metadata(of: type)
        return Int(words.load(fromByteOffset: whole, as: UInt32.self))
            - Int(words.load(fromByteOffset: before, as: UInt32.self))
    }

    /// Without the Objective-C runtime, a reference to a class is the address of its metadata.
    private static func metadata(of type: AnyClass) -> UnsafeRawPointer {
        unsafeBitCast(type, to: UnsafeRawPointer.self)
    }
}

private class OverridingProbe: NSManagedObject {
    override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {}
}

private class PlainProbe: NSManagedObject {}
