/// Makes a struct a ``CoreModel`` whose rows are read and written column by column, by code made when the program is compiled.
///
/// ```swift
/// @CoreModel
/// struct Person {
///     let id: UUID
///     var name: String
///     private var note: String?
/// }
/// ```
///
/// It is the same model, stored in the same way, as with `: CoreModel` and coding that the compiler synthesizes; only faster. The stored
/// properties are the columns, private ones included.
///
/// A type that declares `init(from:)`, `encode(to:)` or `CodingKeys` is coded by them, as are final classes, and types with lazy or
/// wrapped properties, or constants that have a value: for these, the macro adds the conformance and nothing else. Declare coding of your
/// own in the type itself; in an extension, the compiler refuses it as declared twice.
@attached(
    extension, conformances: CoreModel, names: named(CodingKeys), named(init(from:)), named(encode(to:)),
    named(init(columns:)), named(write(columns:)), named(compiledColumns))
public macro CoreModel() = #externalMacro(module: "PippinMacros", type: "CoreModelMacro")
