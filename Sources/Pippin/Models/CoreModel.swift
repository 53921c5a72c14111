/// Anything with a unique identifier that is to be saved: a struct of your app, usually.
///
/// ```swift
/// struct Person: CoreModel {
///     let uid: String
///     var name: String
/// }
/// ```
public protocol CoreModel: SendableMetatype {
    /// The type of the identifier: `String`, `Int`, `UUID` and the like.
    associatedtype UidType: UniqueIdentifier

    /// The identifier. No two models of a type share one.
    var uid: UidType { get }
}
