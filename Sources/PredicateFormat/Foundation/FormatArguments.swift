import Foundation

// Foundation's values and objects as arguments of format strings: `NSPredicate(format: "id == %@", id as CVarArg)` is how Apple's
// compiler says to write it, and Foundation on Linux lets numbers and strings be `CVarArg` only. In `String(format:)`, `%@` prints them.

/// What a format string takes for `%@`, and prints as it describes itself.
public protocol FormatArgument: _CVarArgObject {}

extension FormatArgument {
    /// The string that stands for the argument where C's variable arguments are made.
    public var _cVarArgObject: any CVarArg { NSString(string: String(describing: self)) }

    /// Is not asked for: the string's is, see `_cVarArgObject`.
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

// Not `NSObject`: `NSString` has its own way, and would get this one.
extension NSNumber: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
extension NSDate: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
extension NSData: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
extension NSUUID: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
extension NSURL: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
extension NSNull: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
extension NSArray: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
extension NSSet: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
extension NSOrderedSet: FormatArgument, @retroactive CVarArg, @retroactive _CVarArgObject {}
