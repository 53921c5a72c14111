import Foundation
import Synchronization

/// Gives Foundation's `NSCompoundPredicate` the methods that it lacks outside Apple's platforms.
///
/// Foundation's class inherits `predicateFormat`, `isEqual(_:)`, `hash` and `copy(with:)` from `NSPredicate(value:
/// false)`: it prints as FALSEPREDICATE, equals every other compound predicate, and its copy is FALSEPREDICATE.
/// Programs make compound predicates by Foundation's initializers, which do not allow a subclass, and a class of ours
/// with the same name would make the name ambiguous in every file that imports Foundation. So the four methods are
/// installed in the class itself, once.
enum CompoundPredicateMethods {
    /// Installs the methods. All code here that makes or reads predicates uses this first.
    static let install: Void = {
        guard let foundations = ClassMethods(of: NSCompoundPredicate.self),
            let plain = ClassMethods(of: PlainCompoundPredicate.self),
            let complete = ClassMethods(of: CompleteCompoundPredicate.self),
            plain.count == foundations.count, complete.count == foundations.count
        else { return }
        // Every subclass has its own initializers; other differences are the methods that the subclass overrides.
        for slot in 0..<foundations.count
        where complete[slot] != foundations[slot] && plain[slot] == foundations[slot] {
            foundations.set(complete[slot], at: slot)
        }
    }()
}

/// The methods of a class: the table in its metadata that calls go through.
///
/// Unsafe: reads and writes the metadata of a class, with the layout of Swift's runtime without Objective-C: superclass
/// in word 1, size and address point in word 4, methods from word 7 on. If these words are not as expected, there is no
/// table.
private struct ClassMethods {
    private let words: UnsafeMutablePointer<UInt>
    let count: Int

    private static let first = 7

    init?(of type: NSCompoundPredicate.Type) {
        words = unsafeBitCast(type, to: UnsafeMutablePointer<UInt>.self)
        let superclass: AnyClass = type == NSCompoundPredicate.self ? NSPredicate.self : NSCompoundPredicate.self
        let size = Int(UInt32(truncatingIfNeeded: words[4]))
        let addressPoint = Int(words[4] >> 32)
        guard words[1] == unsafeBitCast(superclass, to: UInt.self), addressPoint == 24, (100...10_000).contains(size)
        else { return nil }
        count = (size - addressPoint) / MemoryLayout<UInt>.size - ClassMethods.first
    }

    subscript(slot: Int) -> UInt { words[ClassMethods.first + slot] }

    func set(_ method: UInt, at slot: Int) { words[ClassMethods.first + slot] = method }
}

/// Overrides nothing.
private final class PlainCompoundPredicate: NSCompoundPredicate {}

/// Overrides what Foundation's class lacks. It has no properties, since its methods run on objects of Foundation's
/// class.
private final class CompleteCompoundPredicate: NSCompoundPredicate {
    override var predicateFormat: String { formatString }

    override var description: String { formatString }

    override func isEqual(_ object: Any?) -> Bool { says(theSameAs: object) }

    override var hash: Int { hashOfParts }

    override func copy(with zone: NSZone? = nil) -> Any {
        NSCompoundPredicate(type: compoundPredicateType, subpredicates: subpredicates)
    }
}

extension NSCompoundPredicate {
    fileprivate var formatString: String {
        if let tree = try? predicateTree(of: self) { return tree.shownFormat }
        // A predicate that contains code has no tree, and prints as its parts do.
        let word =
            switch compoundPredicateType {
            case .and: "AND"
            case .or: "OR"
            case .not: "NOT"
            @unknown default: "AND"
            }
        let parts = subpredicates.map { part in
            let text = part is NSComparisonPredicate ? "\(part)" : formatString(of: part)
            return part is NSCompoundPredicate ? "(\(text))" : text
        }
        return compoundPredicateType == .not ? "NOT " + parts.joined() : parts.joined(separator: " \(word) ")
    }

    private func formatString(of part: NSPredicate) -> String {
        if let compound = part as? NSCompoundPredicate { return compound.formatString }
        if let tree = try? predicateTree(of: part) { return tree.shownFormat }
        return "BLOCKPREDICATE"
    }

    fileprivate func says(theSameAs object: Any?) -> Bool {
        guard let other = object as? NSCompoundPredicate else { return false }
        if self === other { return true }
        if let tree = try? predicateTree(of: self) { return (try? predicateTree(of: other)) == tree }
        return compoundPredicateType == other.compoundPredicateType && subpredicates == other.subpredicates
    }

    fileprivate var hashOfParts: Int {
        if let tree = try? predicateTree(of: self) { return tree.hashValue }
        var hasher = Hasher()
        hasher.combine(compoundPredicateType)
        hasher.combine(subpredicates.count)
        return hasher.finalize()
    }
}

/// The content of a predicate object of ours: the prepared predicate, and forms that are derived from it when first
/// needed.
final class PredicateContent: Sendable {
    let prepared: PreparedPredicate

    private let madeTree = Mutex<PredicateTree?>(nil)
    // Read for every object: a lock would take a large part of a comparison's time.
    private let madeCompiled = LazyReference<CompiledPredicate>()
    private let operandClass = LazyReference<OperandClass>()

    /// The class of the first evaluated object that is an operand itself, and the predicate compiled for objects of
    /// that class.
    private final class OperandClass: Sendable {
        let objectType: ObjectIdentifier
        let operandType: any KeyedOperand.Type
        let predicate: CompiledPredicate

        init(_ object: NSObject, _ operand: any KeyedOperand, _ predicate: CompiledPredicate) {
            objectType = ObjectIdentifier(type(of: object))
            operandType = type(of: operand)
            self.predicate = predicate
        }

        /// The predicate's value for an object; nil for an object of another class.
        func evaluate(_ object: Any?) -> Bool? {
            guard let object = object as? NSObject, ObjectIdentifier(type(of: object)) == objectType else { return nil }
            return predicate.evaluate(operandType.operand(object))
        }
    }

    init(_ prepared: PreparedPredicate) {
        CompoundPredicateMethods.install
        self.prepared = prepared
    }

    convenience init(_ tree: PredicateTree) {
        self.init(PreparedPredicate(parameterizing: tree))
    }

    /// The predicate with its arguments in place.
    var tree: PredicateTree {
        madeTree.withLock { made in
            if let made { return made }
            let tree = prepared.tree
            made = tree
            return tree
        }
    }

    /// The predicate, compiled for evaluation.
    var compiled: CompiledPredicate {
        madeCompiled.unretained?.takeUnretainedValue() ?? madeCompiled.storeIfNil(CompiledPredicate(tree))
    }

    /// A part of the predicate, with the same arguments.
    func part(_ skeleton: PredicateTree) -> PredicateContent {
        PredicateContent(PreparedPredicate(skeleton: skeleton, identity: nil, arguments: prepared.arguments))
    }

    func evaluate(with object: Any?, _ variables: [String: Any]?) -> Bool {
        guard let variables else { return evaluate(with: object) }
        return compiled.evaluate(Value(object), variables: variables.mapValues { Value($0) })
    }

    /// Asking the runtime whether an object conforms to a protocol takes longer than a comparison. It is asked once for
    /// each class, and then only the object's class is checked.
    private func evaluate(with object: Any?) -> Bool {
        let known = operandClass.unretained
        if let holds = known?._withUnsafeGuaranteedRef({ $0.evaluate(object) }) { return holds }
        let value = Value(object)
        if known == nil, case .object(let reference) = value, let object = reference.operand as? NSObject {
            _ = operandClass.storeIfNil(OperandClass(object, reference.operand, compiled))
        }
        return compiled.evaluate(value)
    }
}

/// An object that is made when a thread first needs it, and then kept.
///
/// The standard library's `AtomicLazyReference` does the same in generic code that looks its type up with each load,
/// which took half of the time of evaluating a predicate.
struct LazyReference<Object: AnyObject & Sendable>: ~Copyable, Sendable {
    /// The object's address, which holds one reference; 0 for none.
    private let address = Atomic<UInt>(0)

    /// The object, if it has been made. It lives as long as this value.
    @inline(__always)
    var unretained: Unmanaged<Object>? {
        UnsafeRawPointer(bitPattern: address.load(ordering: .acquiring)).map { Unmanaged.fromOpaque($0) }
    }

    /// Stores an object, unless there is one already.
    ///
    /// - Returns: the stored object.
    func storeIfNil(_ object: Object) -> Object {
        let reference = Unmanaged.passRetained(object)
        let new = UInt(bitPattern: reference.toOpaque())
        let (stored, _) = address.compareExchange(expected: 0, desired: new, ordering: .acquiringAndReleasing)
        if stored { return object }
        reference.release()
        return unretained?.takeUnretainedValue() ?? object
    }

    deinit { unretained?.release() }
}
