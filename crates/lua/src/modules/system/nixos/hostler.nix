# Written by hostler: the options of hostler.json, where { "_package": "vim" } is a package. Changes here are lost.
{ lib, pkgs, ... }:
let
  package = name: lib.attrByPath (lib.splitString "." name) (throw "there is no package ${name}") pkgs;
  value = given:
    if builtins.isAttrs given then
      if given ? _package then package given._package else builtins.mapAttrs (_: value) given
    else if builtins.isList given then map value given
    else given;
in
value (builtins.fromJSON (builtins.readFile ./hostler.json))
