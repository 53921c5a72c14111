import Foundation

// Foundation's values and objects as arguments of format strings: `NSPredicate(format: "id == %@", id as CVarArg)` is
// the form that Apple's compiler suggests, and Foundation on Linux only lets numbers and strings be `CVarArg`. In
// `String(format:)`, `%@` prints them.

/// A type that a format string accepts for `%@`, and that prints its description.
public protocol FormatArgument: _CVarArgObject {}

extension FormatArgument {
    /// The string that represents the argument in C's variable arguments.
    public var _cVarArgObject: any CVarArg { NSString(string: String(describing: self)) }

    /// Never called: the encoding of the string is used, see `_cVarArgObject`.
    public var _cVarArgEncoding: [Int] {
        programmerError("the words of a format argument were asked for; those of its _cVarArgObject are meant")
    }
}

extension UUID: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
extension Date: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
extension Data: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
extension URL: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
extension Decimal: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
extension Array: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
extension Set: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}

// Not `NSObject`: `NSString` has its own conformance, and would get this one.
extension NSNumber: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
extension NSDate: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
extension NSData: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
extension NSUUID: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
extension NSURL: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
extension NSNull: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
extension NSArray: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
extension NSSet: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
extension NSOrderedSet: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
