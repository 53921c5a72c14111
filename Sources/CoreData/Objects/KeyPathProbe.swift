import Foundation

/// Finds the names in a key path like `\Person.author?.name`.
///
/// To the compiler, a property declared `@NSManaged` is computed, so its key path contains no name. A probe, which is
/// an object without an entity of the model, is read through the key path: the accessor finds no value and records its
/// key; a to-one relationship returns another probe.
package enum KeyPathProbe {
    private final class Recorder: @unchecked Sendable {
        // @unchecked Sendable: only used within one call of `keyPathName`, by the caller's thread.
        var keys: [String] = []
        /// The probe from which the next key must be read; `nil` after a property that leads no further.
        var next: NSManagedObject?
        /// Whether keys were read differently from a key path of modelled properties.
        var isOther = false
        /// The path of each key that was read.
        var paths: [[String]] = []
        /// The probes returned by relationships, with their paths.
        var destinations: [(probe: NSManagedObject, path: [String])] = []
        /// Whether the last key is of an enumeration, of which the store has the raw value.
        var isEnumeration = false
        /// Whether optionals must have values, since the key path force-unwraps one.
        var fillsOptionals = false
    }

    @TaskLocal private static var recorder: Recorder?

    static var isRecording: Bool { recorder != nil }

    /// The key, or path of keys, that a key path reads, such as `author.name`.
    ///
    /// - Returns: `nil` if it reads no properties of the model, or not a single path of them.
    package static func keyPathName<Root: NSManagedObject>(_ keyPath: PartialKeyPath<Root>) -> String? {
        keyPathName(keyPath, of: Root.self)
    }

    /// The same for a key path whose type is only known at run time.
    static func keyPathName(_ keyPath: AnyKeyPath, of root: NSManagedObject.Type) -> String? {
        let steps = KeyPathSteps(keyPath)
        if steps.leadIntoCollection { return nil }
        let recorder = Recorder()
        recorder.fillsOptionals = steps.unwraps
        let probe = makeProbe(root)
        recorder.next = probe
        $recorder.withValue(recorder) { _ = (probe as Any)[keyPath: keyPath] }
        if recorder.keys.isEmpty || recorder.isOther { return nil }
        // A property of a value, such as the length of a text, has no name.
        guard steps.types.count <= recorder.keys.count + (recorder.isEnumeration ? 1 : 0) else { return nil }
        return recorder.keys.joined(separator: ".")
    }

    /// The paths of keys that a key path reads: several for a property computed from others.
    static func pathsRead(by keyPath: AnyKeyPath, of root: NSManagedObject.Type) -> [[String]] {
        let steps = KeyPathSteps(keyPath)
        if steps.leadIntoCollection { return [] }
        let recorder = Recorder()
        recorder.fillsOptionals = steps.unwraps
        let probe = makeProbe(root)
        $recorder.withValue(recorder) { _ = (probe as Any)[keyPath: keyPath] }
        // A path that continues in another one is only an intermediate step.
        return recorder.paths.filter { path in
            !recorder.paths.contains { $0.count > path.count && $0.starts(with: path) }
        }
    }

    /// Records that a key was read, as a value of a type.
    static func record<Value>(_ key: String, of probe: NSManagedObject, as type: Value.Type) {
        guard let recorder else { return }
        if probe !== recorder.next { recorder.isOther = true }
        recorder.keys.append(key)
        recorder.paths.append((recorder.destinations.last { $0.probe === probe }?.path ?? []) + [key])
        recorder.isEnumeration =
            ((type as? any OptionalStandIn.Type)?.wrappedType ?? type) is any RawRepresentable.Type
        recorder.next = nil
    }

    /// Records that a to-one relationship was read, and returns a probe of its destination's class; `nil` without a
    /// recorder, since the object is then a stand-in (see `AbsentObjects`).
    static func destination<Destination: NSManagedObject>(_ key: String, of probe: NSManagedObject) -> Destination? {
        guard recorder != nil else { return nil }
        record(key, of: probe, as: Destination.self)
        let destination = makeProbe(Destination.self)
        recorder?.next = destination
        if let path = recorder?.paths.last { recorder?.destinations.append((destination, path)) }
        return destination as? Destination
    }

    /// Some value of a type, for an accessor to return; `nil` for a type of which none can be made.
    static func standIn<Value>() -> Value? {
        switch Value.self {
        case let type as any OptionalStandIn.Type where recorder?.fillsOptionals ?? false: type.filled() as? Value
        case is any ExpressibleByNilLiteral.Type: Any?.none as? Value
        case is URL.Type: URL(fileURLWithPath: "/") as? Value
        case is NSURL.Type: NSURL(fileURLWithPath: "/") as? Value
        case is NSUUID.Type: NSUUID() as? Value
        case _ where _isPOD(Value.self): zero()
        default: emptyValue()
        }
    }

    /// The value with all bytes zero: a number, a date, the first case of an enumeration.
    ///
    /// Unsafe, and only for types without references, of which any copy can be dropped unread: the key path's result is
    /// never used.
    private static func zero<Value>() -> Value {
        withUnsafeTemporaryAllocation(byteCount: MemoryLayout<Value>.size, alignment: MemoryLayout<Value>.alignment) {
            $0.initializeMemory(as: UInt8.self, repeating: 0)
            return $0.load(as: Value.self)
        }
    }

    // MARK: Making probes

    static func makeProbe(_ type: NSManagedObject.Type) -> NSManagedObject {
        NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType).makeProbe(type, layout)
    }

    /// An entity without properties, so that no key is found.
    private static let layout: EntityLayout = {
        let entity = NSEntityDescription()
        entity.name = "Probe"
        return EntityLayout(entity, number: 0, superentity: nil)
    }()
}

/// `Optional` of any type, to make stand-in values.
private protocol OptionalStandIn {
    static var wrappedType: Any.Type { get }
    /// A non-nil value; nil for a type of which none can be made.
    static func filled() -> Any?
}

extension Optional: OptionalStandIn {
    fileprivate static var wrappedType: Any.Type { Wrapped.self }

    fileprivate static func filled() -> Any? {
        let value: Wrapped? = KeyPathProbe.standIn()
        return value
    }
}

/// The value of a property that is not optional and has none: zero, or an empty collection.
///
/// This includes Foundation's classes: with the Objective-C runtime such a property is a reference to nil, which
/// returns zero from messages, and programs that declare `NSDate` instead of `Date` rely on that.
@inline(never)
@_semantics("optimize.sil.specialize.generic.never")
func emptyValue<Value>() -> Value? {
    switch Value.self {
    case let type as any RangeReplaceableCollection.Type: type.init() as? Value
    case let type as any SetAlgebra.Type: type.init() as? Value
    case let type as any ExpressibleByDictionaryLiteral.Type: emptyDictionary(type) as? Value
    case let type as any Numeric.Type: type.init(exactly: 0) as? Value
    case let type as NSObject.Type: emptyObject(type) as? Value
    default: nil
    }
}

private func emptyDictionary<Dictionary: ExpressibleByDictionaryLiteral>(_ type: Dictionary.Type) -> Dictionary {
    type.init()
}

/// The object of a Foundation class that represents zero or an empty value; `nil` for other classes.
private func emptyObject(_ type: NSObject.Type) -> NSObject? {
    if type == NSDate.self { return NSDate(timeIntervalSince1970: 0) }
    if type == NSNumber.self { return NSNumber(value: 0) }
    if type == NSDecimalNumber.self { return NSDecimalNumber.zero }
    if type == NSString.self { return NSString() }
    if type == NSData.self { return NSData() }
    if type == NSArray.self { return NSArray() }
    if type == NSDictionary.self { return NSDictionary() }
    if type == NSSet.self { return NSSet() }
    if type == NSOrderedSet.self { return NSOrderedSet() }
    return nil
}

/// The properties and subscripts that a key path reads one after the other, as far as its description shows them.
///
/// Swift prints `\Book.<computed 0x55 (Optional<Author>)>?.<computed 0x56 (Array<String>)>.<computed 0x7f (String)>`:
/// for a computed property the type, but no name. Pure.
package struct KeyPathSteps {
    /// The result type of each step, without `Optional`; the name for a stored property.
    package let types: [Substring]
    /// Whether an optional value is force-unwrapped.
    package let unwraps: Bool

    package init(_ keyPath: AnyKeyPath) { self.init(description: keyPath.debugDescription) }

    init(description: String) {
        var types: [Substring] = []
        var rest = description.drop { $0 != "." }
        var unwraps = false
        while rest.first == "." {
            rest = rest.dropFirst()
            let name: Substring
            if rest.hasPrefix("<computed "), let type = Self.parenthesized(in: rest) {
                name = type
                // The type is followed by `)>`.
                rest = rest[type.endIndex...].dropFirst(2)
            } else {
                name = rest.prefix { !".?!".contains($0) }
                rest = rest.dropFirst(name.count)
            }
            types.append(Self.unwrapped(name))
            while let mark = rest.first, mark == "?" || mark == "!" {
                if mark == "!" { unwraps = true }
                rest = rest.dropFirst()
            }
        }
        self.types = types
        self.unwraps = unwraps
    }

    /// The text between the first parenthesis and its closing one; types contain parentheses themselves.
    private static func parenthesized(in text: Substring) -> Substring? {
        guard let start = text.firstIndex(of: "(") else { return nil }
        var depth = 0
        for index in text.indices[start...] {
            if text[index] == "(" { depth += 1 }
            if text[index] == ")" { depth -= 1 }
            if depth == 0 { return text[text.index(after: start)..<index] }
        }
        return nil
    }

    /// Whether an element or another property of a collection is read, which has no name; an empty collection, as a
    /// probe returns it, has no element to read.
    package var leadIntoCollection: Bool {
        types.dropLast().contains { type in
            let name = type.prefix { $0 != "<" }
            return Self.collections.contains(String(name))
        }
    }

    private static let collections: Set<String> = [
        "Array", "ArraySlice", "ContiguousArray", "Data", "Dictionary", "IndexSet", "NSArray", "NSDictionary",
        "NSMutableArray", "NSMutableDictionary", "NSMutableOrderedSet", "NSMutableSet", "NSOrderedSet", "NSSet", "Set",
        "String", "Substring",
    ]

    private static func unwrapped(_ type: Substring) -> Substring {
        let start = "Optional<"
        guard type.hasPrefix(start), type.hasSuffix(">") else { return type }
        return unwrapped(type.dropFirst(start.count).dropLast())
    }
}
