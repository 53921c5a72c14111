import Foundation
import Synchronization

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
