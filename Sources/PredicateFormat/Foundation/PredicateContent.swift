import Foundation
import Synchronization

/// What a predicate object of ours holds: the prepared predicate, and what is made of it when first needed.
final class PredicateContent: Sendable {
    let prepared: PreparedPredicate

    private let madeTree = Mutex<PredicateTree?>(nil)
    // Read with every object: a lock would take a good part of a comparison's time.
    private let madeCompiled = LazyReference<CompiledPredicate>()
    private let operandClass = LazyReference<OperandClass>()

    /// The class of the first object that was evaluated and is an operand itself, and the predicate for all objects of it.
    private final class OperandClass: Sendable {
        let objectType: ObjectIdentifier
        let operandType: any KeyedOperand.Type
        let predicate: CompiledPredicate

        init(_ object: NSObject, _ operand: any KeyedOperand, _ predicate: CompiledPredicate) {
            objectType = ObjectIdentifier(type(of: object))
            operandType = type(of: operand)
            self.predicate = predicate
        }

        /// What the predicate says of an object; nil for one of another class.
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

    /// The predicate, ready to be evaluated.
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

    /// Asking the runtime whether an object conforms to a protocol takes longer than a comparison: of objects of one class it
    /// is asked once, and after that only whether the next object is of that class.
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
