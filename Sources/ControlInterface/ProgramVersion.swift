/// The version of the programs that were built together.
package let programVersion = "0.1.0"
