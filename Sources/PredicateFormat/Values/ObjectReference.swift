import Foundation

/// An object among the operands of a predicate; equal to another if both stand for the same thing.
///
/// A managed object equals its object identifier: `author == %@` takes either.
///
/// - Note: `@unchecked Sendable`: a predicate only holds the reference and compares identities, which never change.
///   Reading the object's keys happens on the thread that evaluates, where the caller must be allowed to use it, as
///   with Apple's predicates.
package struct ObjectReference: Hashable, @unchecked Sendable {
    /// The object, or the adapter that reads its keys.
    package let operand: any KeyedOperand

    package init(_ operand: any KeyedOperand) {
        self.operand = operand
    }

    /// The object itself, without its adapter.
    package var object: AnyObject { operand.operandObject }

    package static func == (first: ObjectReference, second: ObjectReference) -> Bool {
        if first.operand === second.operand { return true }
        let identity = first.operand.operandIdentity
        let other = second.operand.operandIdentity
        return identity === other || identity.isEqual(other)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(operand.operandIdentity)
    }
}
